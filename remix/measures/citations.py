"""Where the measures come from."""

REMIXING = "Waitelonis, Jürges, Sack: Remixing Entity Linking Evaluation Datasets for Focused Benchmarking, 2019"
VAN_ERP = "van Erp et al.: Evaluating Entity Linking, LREC 2016"
STEINMETZ = "Steinmetz, Knuth, Sack: Statistical Analyses of Named Entity Disambiguation Benchmarks, 2013"
FINE_GRAINED = "Rosales-Méndez, Hogan, Poblete: Fine-Grained Evaluation for Entity Linking, EMNLP 2019"
FAIR = "Bast, Hertel, Prange: A Fair and In-Depth Evaluation of Existing End-to-End Entity Linking Systems, EMNLP 2023"
EUEF = "Chen et al.: An Easy-to-Use Evaluation Framework for Entity Recognition and Disambiguation Systems, 2018"
