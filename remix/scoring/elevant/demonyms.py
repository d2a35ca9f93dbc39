"""Names of peoples after places, in English: what a mention is called a demonym by."""

__all__ = ["DEMONYMS"]

_SINGULAR = """
Afghan African Albanian Algerian American Andorran Angolan Arab Argentine Argentinian Armenian Asian Australian Austrian
Azerbaijani Bahraini Bangladeshi Basque Belarusian Belgian Bengali Bolivian Bosnian Brazilian Briton British Bulgarian
Burmese Cambodian Cameroonian Canadian Catalan Chadian Chechen Chilean Chinese Colombian Congolese Croat Croatian Cuban
Cypriot Czech Dane Danish Dutch Ecuadorian Egyptian English Eritrean Estonian Ethiopian European Fijian Filipino Finn
Finnish French Gambian Georgian German Ghanaian Greek Guatemalan Guinean Haitian Honduran Hungarian Icelandic Indian
Indonesian Iranian Iraqi Irish Israeli Italian Ivorian Jamaican Japanese Jordanian Kazakh Kenyan Korean Kosovar Kurd
Kurdish Kuwaiti Lao Latvian Lebanese Liberian Libyan Lithuanian Macedonian Malaysian Malian Maltese Mexican Moldovan
Mongolian Moroccan Mozambican Namibian Nepalese Nicaraguan Nigerian Norwegian Omani Pakistani Palestinian Panamanian
Paraguayan Parisian Persian Peruvian Polish Portuguese Qatari Romanian Russian Rwandan Salvadoran Saudi Scot Scottish
Senegalese Serb Serbian Singaporean Slovak Slovene Slovenian Somali Spaniard Spanish Sudanese Swede Swedish Swiss Syrian
Taiwanese Tajik Tanzanian Texan Thai Tibetan Tunisian Turk Turkish Turkmen Ugandan Ukrainian Uruguayan Uzbek Venezuelan
Vietnamese Welsh Yemeni Yugoslav Zambian Zimbabwean
"""

DEMONYMS = tuple(sorted({*_SINGULAR.split(), *(f"{one}s" for one in _SINGULAR.split())}))
"""Singular and plural; ELEVANT forms the plural of its list, from Wikidata, likewise (entity_database_reader.py)."""
