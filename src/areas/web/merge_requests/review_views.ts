/** A review: the comments that its author keeps until they publish all of them (docs/reference/draft_notes.md). */
import type { Static } from 'typebox';
import type { Values } from '../../../http/index.ts';
import {
  type Content,
  chip,
  type Field,
  form,
  type Html,
  hidden,
  html,
  type PageCall,
  type PageForm,
  type Seen,
  withQuery,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { DraftNote } from '../../work/merge_requests/index.ts';
import { type TextPlace, textsAsHtml } from '../issuables/present.ts';
import { bodyField } from '../issuables/views.ts';

/** A pending comment with its text as HTML. */
export interface Draft extends Static<typeof DraftNote> {
  text: Html | undefined;
}

const back = (_: never, call: PageCall) => withQuery(call, { at: undefined, suggest: undefined });

/** The fields of comments, by the names that draft notes have for them. */
const asDraft = async (_: PageCall, { body, discussion_id, ...fields }: Values): Promise<Values> => ({
  ...fields,
  ...(body === '' ? {} : { note: body }),
  ...(discussion_id === undefined ? {} : { in_reply_to_discussion_id: discussion_id }),
});

const toOverview = (_: never, { path }: PageCall) => path.replace(/\/diffs$/, '');

/** The forms of a review, and the one that applies suggestions. */
export const reviewForms = {
  draft: { runs: 'createDraftNote', takes: asDraft, next: back },
  edit_draft: { runs: 'updateDraftNote', takes: asDraft, next: back },
  remove_draft: { runs: 'deleteDraftNote', next: back },
  publish_one: { runs: 'publishDraftNote', next: back },
  publish: { runs: 'publishAllDraftNotes', takes: asDraft, next: toOverview },
  apply: { runs: 'applySuggestions', next: back },
} satisfies Record<string, PageForm>;

type PlainDraft = Static<typeof DraftNote>;

/** The pending comments of the caller, at most 100. */
export async function draftsOf(call: PageCall): Promise<readonly PlainDraft[]> {
  return call.caller ? (await call.list(DraftNote, 'listDraftNotes', { per_page: 100 })).items : [];
}

/** Pending comments with their texts as HTML. */
export async function withTexts(
  call: PageCall,
  place: TextPlace,
  drafts: readonly PlainDraft[],
): Promise<readonly Draft[]> {
  if (drafts.length === 0) return [];
  const texts = await textsAsHtml(
    call,
    place,
    drafts.map(({ note }) => note),
  );
  return drafts.map((each, index) => ({ ...each, text: texts[index] }));
}

/** A pending comment, which only its author sees. */
export function draftView(seen: Seen, { id, note, text, position, discussion_id }: Draft): Html {
  const line = position?.new_line ?? position?.old_line;
  const at = position ? `${position.new_path ?? position.old_path}${line ? `, line ${line}` : ''}` : undefined;
  const action = withQuery(seen, { at: undefined, suggest: undefined });
  const own = [hidden('draft_note_id', id)];
  return html`<article class="note pending" id="${`draft_${id}`}"><header>${chip('Pending', 'clock')} ${
    at ? html`<code>${at}</code>` : discussion_id ? 'Reply' : 'Comment'
  }</header>
<div class="text">${text}</div>
<details><summary>Edit</summary>${form(seen, 'edit_draft', {
    fields: [bodyField('Comment', { value: note }), ...own],
    button: 'Save',
    key: id,
    action,
  })}${form(seen, 'publish_one', { fields: own, button: 'Publish it now', look: 'plain', key: id, action })}${form(seen, 'remove_draft', { fields: own, button: 'Delete', look: 'danger', key: id, action })}</details></article>`;
}

const summaryField: Field = { name: 'body', label: 'Summary', kind: 'markdown', refused_as: ['note'] };

/** What finishes a review; nothing while it has no comment. */
export function reviewBox(seen: Seen, drafts: readonly Draft[], listed: Content): Html | undefined {
  if (drafts.length === 0) return undefined;
  return html`<section class="notice" aria-labelledby="review"><h2 id="review">Your review</h2>
<p>${counted(drafts.length, 'comment')} that only you see until you publish ${drafts.length === 1 ? 'it' : 'them'}.</p>
${listed}${form(seen, 'publish', {
  fields: [
    summaryField,
    {
      name: 'reviewer_state',
      label: 'Verdict',
      kind: 'select',
      options: [
        { value: 'reviewed', label: 'Comment' },
        { value: 'requested_changes', label: 'Request changes' },
      ],
    },
  ],
  button: 'Publish the review',
})}</section>`;
}
