/** The forms of a conversation, and where they lead. */
import type { PageCall, PageForm } from '../../../pages/index.ts';
import type { Noun, ShownNote, Thread } from './definition.ts';

/** A note by itself, or a thread of it, or neither if the text had quick actions only. */
interface Written {
  body: Partial<ShownNote> & Partial<Thread>;
}

/** The page of a conversation that holds a note. */
function toNote(path: string, page: unknown, { body }: Written): string {
  const id = body.notes?.[0]?.id ?? body.id;
  const place = typeof page === 'string' ? `?page=${encodeURIComponent(page)}` : '';
  return id === undefined ? path : `${path}${place}#note_${id}`;
}

const afterNew = (reply: never, { path }: PageCall) => toNote(path, 'last', reply);
const afterChange = (reply: never, { path, query }: PageCall) => toNote(path, query.page, reply);

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
