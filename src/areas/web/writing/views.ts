/** Views of attaching files and of completion. */
import { form, html, rows, type Seen, type View } from '../../../pages/index.ts';
import type { WritingPlace } from './place_queries.ts';
import type { Suggestion } from './suggestion_queries.ts';

const inPlace = ({ full_path, kind }: WritingPlace, title: string) => ({
  title: [title, full_path],
  place: { id: full_path, kind },
});

export const attachView = (place: WritingPlace, seen: Seen): View => ({
  ...inPlace(place, 'Attach a file'),
  main: html`<p>A file is attached to a text by its Markdown, which you get when it is uploaded.</p>
${
  form(seen, 'upload', {
    fields: [{ name: 'file', label: 'File', kind: 'file', is_required: true }],
    button: 'Upload the file',
  }) ?? html`<p>You may not attach files here.</p>`
}`,
});

/** What is written in a text for the file, which was uploaded. */
export const attachedView = ({ markdown }: { markdown: string }, { path }: { path: string }): View => ({
  title: ['File attached'],
  main: html`<p>Write this where the file shall be:</p>
<pre><code id="markdown">${markdown}</code></pre>
<p><a href="${path}">Attach another file</a></p>`,
});

export const suggestionsView = (
  { place, suggestions }: { place: WritingPlace; suggestions: readonly Suggestion[] },
  _: Seen,
): View => ({
  ...inPlace(place, 'Suggestions'),
  main: html`<div id="suggestions">${rows(
    suggestions.map(({ text, meaning }) => html`<code>${text}</code> ${meaning}`),
    'Nothing is found.',
  )}</div>`,
});
