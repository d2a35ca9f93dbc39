// What the page of SPARQL takes of CodeMirror: `remix/web/assets/sparql.js` puts it together.
export { EditorState, StateEffect, StateField } from "@codemirror/state";
export { Decoration, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { HighlightStyle, bracketMatching, delimitedIndent, ensureSyntaxTree, indentNodeProp, syntaxHighlighting, syntaxTree } from "@codemirror/language";
export { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
export { styleTags, tags } from "@lezer/highlight";
export { SparqlLanguage } from "codemirror-lang-sparql";
