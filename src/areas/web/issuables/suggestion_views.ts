/** Suggestions in comments, as what they would change. */
import { type Content, chip, form, type Html, html, type Seen, withQuery } from '../../../pages/index.ts';
import { isSuggestion, type SuggestionReply } from '../../conversation/notes/index.ts';

const fence = /^ {0,3}(`{3,}|~{3,})\s*(\S*)\s*$/;

/** The text of a comment without its suggestions, which are shown as changes below it. */
export function withoutSuggestions(text: string): string {
  let open: string | undefined;
  const kept = text.split('\n').filter((line) => {
    const [, mark, info = ''] = fence.exec(line) ?? [];
    if (open !== undefined) {
      const isEnd = mark !== undefined && info === '' && mark.startsWith(open);
      if (isEnd) open = undefined;
      return false;
    }
    if (mark !== undefined && isSuggestion(info)) open = mark;
    return open === undefined;
  });
  return kept.join('\n').trim();
}

/** What a suggestion would change, with a button for those who may commit it. */
function suggestionView(seen: Seen, suggestion: SuggestionReply): Html {
  const { id, from_line, to_line, from_content, to_content, applied, applicable } = suggestion;
  const lines = from_line === to_line ? `line ${from_line}` : `lines ${from_line} to ${to_line}`;
  return html`<section class="suggestion" aria-label="${`Suggestion for ${lines}`}"><pre>${
    from_content !== '' && html`<del>${from_content}</del>`
  }${to_content !== '' && html`<ins>${to_content}</ins>`}</pre>
<div class="actions">${
    applied
      ? chip('Applied', 'ok')
      : applicable
        ? form(seen, 'apply', {
            fields: [{ name: 'ids[]', label: '', kind: 'hidden', value: id }],
            button: html`Apply suggestion<span class="visually-hidden"> for ${lines}</span>`,
            look: 'plain',
            key: id,
            action: withQuery(seen, { at: undefined, suggest: undefined }),
          })
        : html`<span class="soft">It cannot be applied to the branch as it is now.</span>`
  }</div></section>`;
}

/** All suggestions of a comment. */
export const suggestionsView = (seen: Seen, suggestions: readonly SuggestionReply[] | undefined): Content =>
  suggestions?.map((each) => suggestionView(seen, each));

/** A form that applies several suggestions in one commit. */
export function batchForm(seen: Seen, suggestions: readonly SuggestionReply[]): Content {
  const open = suggestions.filter(({ applied, applicable }) => applicable && !applied);
  if (open.length < 2) return undefined;
  const choices = open.map(({ id, from_line, to_content }) => ({
    value: id,
    label: `Line ${from_line}: ${to_content.trim().slice(0, 60)}`,
  }));
  const applying = form(seen, 'apply', {
    fields: [
      { name: 'ids', label: 'Suggestions', kind: 'checkboxes', options: choices, chosen: open.map(({ id }) => id) },
    ],
    button: 'Apply them in one commit',
    look: 'plain',
    key: 'several',
  });
  return applying && html`<details><summary>Apply several suggestions</summary>${applying}</details>`;
}
