/** The forms of a conversation, and their redirects. */
import { type Html, html, type PageCall, type PageForm, type Seen, withQuery } from '../../../pages/index.ts';
import type { Noun, ShownNote, Thread } from './definition.ts';

/** A single note, or its thread, or neither if the text contained only quick actions. */
interface Written {
  body: Partial<ShownNote> & Partial<Thread>;
}

/** The address of a note on a page; only the page if there is no note. */
function atNote(address: string, { body }: Written): string {
  const id = body.notes?.[0]?.id ?? body.id;
  return id === undefined ? address : `${address}#note_${id}`;
}

const afterNew = (reply: never, call: PageCall) => atNote(`${call.path}?page=last`, reply);
const afterChange = (reply: never, call: PageCall) => atNote(withQuery(call, { edit: undefined }), reply);

/** Leads to the page without the form of a property. */
export const afterProperty = (_: never, call: PageCall) => withQuery(call, { change: undefined, find: undefined });

/** The operations that change an item. */
export const updates = { Issue: 'updateProjectIssue', MergeRequest: 'updateMergeRequest', Epic: 'updateEpic' } as const;

/** The actions on an item other than editing all of it. */
export const conversationForms = (noun: Noun) =>
  ({
    comment: { runs: `create${noun}Note`, next: afterNew },
    thread: { runs: `create${noun}Discussion`, next: afterNew },
    reply: { runs: `create${noun}DiscussionNote`, next: afterChange },
    edit_note: { runs: `update${noun}DiscussionNote`, next: afterChange },
    remove_note: {
      runs: `delete${noun}DiscussionNote`,
      next: (_: never, call) => withQuery(call, { edit: undefined }),
    },
    react: { runs: `create${noun}AwardEmoji` },
    unreact: { runs: `delete${noun}AwardEmoji` },
    subscribe: { runs: `subscribeTo${noun}` },
    unsubscribe: { runs: `unsubscribeFrom${noun}` },
    add_todo: { runs: `create${noun}Todo` },
    change: { runs: updates[noun], next: afterProperty },
    close: { runs: updates[noun], parameters: { state_event: 'close' } },
    reopen: { runs: updates[noun], parameters: { state_event: 'reopen' } },
  }) satisfies Record<string, PageForm>;

/** The texts in a form that two users may edit at the same time. */
export const editedTexts = ({
  title,
  description,
}: {
  title: string;
  description: string | null;
}): readonly unknown[] => [title, description ?? ''];

/** The version of the text that another user has saved in the meantime, for comparison. */
export const presentText = ({ refused }: Seen, text: string | null | undefined): Html | undefined =>
  refused?.refusal.status === 409
    ? html`<details open><summary>The text as it is now</summary><pre>${text}</pre></details>`
    : undefined;
