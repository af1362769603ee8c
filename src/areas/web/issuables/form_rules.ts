/** The forms of a conversation, and where they lead. */
import { type Html, html, type PageCall, type PageForm, type Seen, withQuery } from '../../../pages/index.ts';
import type { Noun, ShownNote, Thread } from './definition.ts';

/** A note by itself, or a thread of it, or neither if the text had quick actions only. */
interface Written {
  body: Partial<ShownNote> & Partial<Thread>;
}

/** Where a note is on a page; only the page if there is none. */
function atNote(address: string, { body }: Written): string {
  const id = body.notes?.[0]?.id ?? body.id;
  return id === undefined ? address : `${address}#note_${id}`;
}

const afterNew = (reply: never, call: PageCall) => atNote(`${call.path}?page=last`, reply);
const afterChange = (reply: never, call: PageCall) => atNote(withQuery(call, { edit: undefined }), reply);

/** What people do with an issue or a merge request besides changing it. */
export const conversationForms = (noun: Noun) =>
  ({
    comment: { runs: `create${noun}Note`, next: afterNew },
    thread: { runs: `create${noun}Discussion`, next: afterNew },
    reply: { runs: `create${noun}DiscussionNote`, next: afterChange },
    edit_note: { runs: `update${noun}DiscussionNote`, next: afterChange },
    remove_note: { runs: `delete${noun}DiscussionNote` },
    react: { runs: `create${noun}AwardEmoji` },
    unreact: { runs: `delete${noun}AwardEmoji` },
    subscribe: { runs: `subscribeTo${noun}` },
    unsubscribe: { runs: `unsubscribeFrom${noun}` },
    close: { runs: `update${noun === 'Issue' ? 'ProjectIssue' : noun}`, parameters: { state_event: 'close' } },
    reopen: { runs: `update${noun === 'Issue' ? 'ProjectIssue' : noun}`, parameters: { state_event: 'reopen' } },
  }) satisfies Record<string, PageForm>;

/** What two people may change at a time in one form. */
export const editedTexts = ({
  title,
  description,
}: {
  title: string;
  description: string | null;
}): readonly unknown[] => [title, description ?? ''];

/** The text as someone else has written it meanwhile, for comparison. */
export const presentText = ({ refused }: Seen, text: string | null | undefined): Html | undefined =>
  refused?.refusal.status === 409
    ? html`<details open><summary>The text as it is now</summary><pre>${text}</pre></details>`
    : undefined;
