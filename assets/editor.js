// The editor for code, loaded on pages with a form for a file. It replaces the field on the screen; the field is still what is sent.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentUnit,
  LRLanguage,
  StreamLanguage,
  syntaxHighlighting,
} from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { grammarOf } from '../src/highlighting/languages.ts';
import { highlighter } from '../src/highlighting/marks.ts';

// Colours are those of the page, whose variables reach into the shadow.
const theme = EditorView.theme({
  '&': { border: '1px solid var(--border)', borderRadius: '6px', background: 'var(--ground)', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: '3px solid var(--link)', outlineOffset: '1px' },
  '.cm-scroller': { minHeight: '16rem', maxHeight: '75vh', font: '1em / 1.55 ui-monospace, monospace' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderColor: 'var(--text)' },
  '.cm-gutters': { background: 'var(--raised)', color: 'var(--soft)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--link) 30%, transparent)',
  },
  '.cm-panels': { background: 'var(--raised)', color: 'var(--text)' },
  '.k, .m': { color: 'var(--keyword)' },
  '.s': { color: 'var(--string)' },
  '.c': { color: 'var(--comment)' },
  '.n': { color: 'var(--number)' },
  '.f, .t': { color: 'var(--name)' },
});

async function languageOf(name) {
  const grammar = await grammarOf(name);
  if (!grammar) return [];
  return 'tree' in grammar ? LRLanguage.define({ parser: grammar.tree }) : StreamLanguage.define(grammar.lines);
}

/** The indentation that most of the first lines have. */
const unitOf = (text) => /^(\t| {2,8})\S/m.exec(text)?.[1] ?? '  ';

/** Puts an editor in the place of a field. */
export async function edit(field) {
  const language = await languageOf(field.dataset.file);
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  const label = field.labels[0];
  const send = () => {
    field.form.requestSubmit(field.form.querySelector('button[name="_do"]'));
    return true;
  };
  const view = new EditorView({
    root,
    parent: root,
    doc: field.value,
    extensions: [
      lineNumbers(),
      highlightActiveLineGutter(),
      foldGutter(),
      history(),
      drawSelection(),
      EditorState.allowMultipleSelections.of(true),
      indentUnit.of(unitOf(field.value)),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      search({ top: true }),
      // Tab leaves the editor, as it leaves any field.
      keymap.of([{ key: 'Mod-Enter', run: send }, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap]),
      syntaxHighlighting(highlighter),
      language,
      theme,
      EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label.textContent }),
    ],
  });
  const { form } = field;
  form.addEventListener('formdata', ({ formData }) => formData.set(field.name, view.state.doc.toString()));
  label.addEventListener('click', () => view.focus());
  field.hidden = true;
  // A browser sends no form with a hidden field that is empty and required. The server says that the text is missing.
  field.required = false;
  field.before(host);
}
