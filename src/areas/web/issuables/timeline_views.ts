/** Views of a conversation: comments, threads and changes, in one order. */
import {
  chip,
  form,
  type Html,
  hidden,
  html,
  pager,
  person,
  refusalIn,
  type Seen,
  time,
  withQuery,
} from '../../../pages/index.ts';
import type { Change, NoteTexts, ShownNote, Thread, Timeline } from './definition.ts';
import { suggestionsView } from './suggestion_views.ts';
import { bodyField, ticksView } from './views.ts';

/** The location of a comment on a diff. */
function placeOf({ position }: ShownNote): string | undefined {
  if (!position) return undefined;
  const line = position.new_line ?? position.old_line;
  return `${position.new_path ?? position.old_path}${line ? `, line ${line}` : ''}`;
}

const isEdited = (seen: Seen, { id }: ShownNote): boolean =>
  seen.query.edit === String(id) || refusalIn(seen, 'edit_note', id) !== undefined;

function editForm(seen: Seen, discussion_id: string, { id, body }: ShownNote): Html {
  const target = [hidden('discussion_id', discussion_id), hidden('note_id', id)];
  return html`${form(seen, 'edit_note', {
    fields: [bodyField('Comment', { value: body }), ...target],
    button: 'Save',
    key: id,
    action: withQuery(seen, { edit: undefined }),
  })} <a class="button" data-part href="${`${withQuery(seen, { edit: undefined })}#note_${id}`}">Cancel</a>
${form(seen, 'remove_note', {
  fields: target,
  button: 'Delete the comment',
  look: 'danger',
  key: id,
  action: withQuery(seen, { edit: undefined }),
})}`;
}

function noteView(seen: Seen, discussion_id: string, note: ShownNote, texts: NoteTexts, isReply: boolean): Html {
  const { id, author, created_at, updated_at, internal } = note;
  const isOwn = author !== null && author.id === seen.caller?.id;
  const place = isReply ? undefined : placeOf(note);
  const words = html`${person(author)} ${isReply ? 'replied' : 'commented'}${place && html` on <code>${place}</code>`}`;
  const heading = isReply ? html`<h4>${words}</h4>` : html`<h3>${words}</h3>`;
  return html`<article class="note" id="${`note_${id}`}" data-part="${`note_${id}`}">
<header>${heading} <a href="${`#note_${id}`}"><span class="visually-hidden">Link to the comment of ${author?.name ?? 'a deleted user'}, </span>${time(created_at)}</a>${
    updated_at !== created_at && html` <span class="soft">edited</span>`
  }${internal && html` ${chip('Internal')}`}${
    isOwn &&
    seen.may('edit_note') &&
    html` <a data-part href="${`${withQuery(seen, { edit: id })}#note_${id}`}">Edit<span class="visually-hidden"> the comment</span></a>`
  }</header>
<div class="text">${isOwn && isEdited(seen, note) ? editForm(seen, discussion_id, note) : [texts.get(id), suggestionsView(seen, note.suggestions)]}</div>
${ticksView(seen, texts.get(id), note.body, { id, discussion_id })}</article>`;
}

const systemView = ({ id, author, created_at }: ShownNote, texts: NoteTexts): Html =>
  html`<div class="event" id="${`note_${id}`}">${person(author)} ${texts.get(id)} ${time(created_at)}</div>`;

const changeView = ({ at, user, what }: Change): Html =>
  html`<div class="event">${person(user)} ${what} ${time(at)}</div>`;

/** Whether the notes of a thread are resolved; undefined if they cannot be. */
function resolutionOf({ notes }: Thread): boolean | undefined {
  const resolvable = notes.filter((note) => note.resolvable);
  return resolvable.length === 0 ? undefined : resolvable.every(({ resolved }) => resolved);
}

/** A second button, which keeps a comment for a review. */
export const draftButton = (seen: Seen) =>
  seen.may('draft') ? { also: { name: 'draft', button: 'Add to your review' } } : {};

function replyView(seen: Seen, { id }: Thread): Html | undefined {
  const reply = form(seen, 'reply', {
    fields: [bodyField('Reply'), hidden('discussion_id', id)],
    button: 'Reply',
    ...draftButton(seen),
    key: id,
    action: withQuery(seen, { edit: undefined }),
  });
  return (
    reply &&
    html`<details ?open="${refusalIn(seen, 'reply', id) !== undefined}"><summary>Reply</summary>${reply}</details>`
  );
}

/** A comment with its replies. */
export function threadView(seen: Seen, thread: Thread, texts: NoteTexts): Html {
  const [first, ...replies] = thread.notes;
  if (first!.system) return systemView(first!, texts);
  const resolved = resolutionOf(thread);
  const resolving = resolved !== undefined && seen.may('resolve');
  return html`<div class="thread">
${noteView(seen, thread.id, first!, texts, false)}
<div class="replies">${resolved && html`<p class="soft">This thread is resolved.</p>`}${replies.map((note) => noteView(seen, thread.id, note, texts, true))}
${replyView(seen, thread)}${
  resolving &&
  form(seen, 'resolve', {
    fields: [hidden('discussion_id', thread.id), hidden('resolved', String(!resolved))],
    button: resolved ? 'Open the thread again' : 'Resolve the thread',
    look: 'plain',
    key: thread.id,
    action: withQuery(seen, { edit: undefined }),
  })
}</div>
</div>`;
}

/** The entries with their times. */
function entriesOf(seen: Seen, { threads, changes }: Timeline, texts: NoteTexts): Html[] {
  const said = threads.items.map((thread) => ({
    at: thread.notes[0]!.created_at,
    view: threadView(seen, thread, texts),
  }));
  const done = changes.map((change) => ({ at: change.at, view: changeView(change) }));
  return [...said, ...done].toSorted((one, other) => one.at.localeCompare(other.at)).map(({ view }) => view);
}

/** The whole conversation, with the form for a comment. */
export function timelineView(seen: Seen, timeline: Timeline, texts: NoteTexts): Html {
  return html`<section aria-labelledby="activity">
<h2 id="activity">Activity</h2>
<div id="entries">
${entriesOf(seen, timeline, texts)}
</div>
${timeline.has_more_changes && html`<p class="soft">Only the first 100 changes of each kind are shown.</p>`}
${pager(timeline.threads, seen)}
${commentView(seen)}
</section>`;
}

function commentView(seen: Seen): Html {
  if (!seen.caller)
    return html`<p><a href="${`/users/sign_in?to=${encodeURIComponent(seen.path)}`}">Sign in</a> to comment.</p>`;
  return html`${form(seen, 'comment', {
    fields: [bodyField('Comment', { help: 'Markdown and quick actions such as /label count.' })],
    button: 'Comment',
    also: { name: 'thread', button: 'Start a thread' },
    action: withQuery(seen, { edit: undefined }),
  })}`;
}
