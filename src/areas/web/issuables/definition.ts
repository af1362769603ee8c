/** Types shared by the pages of issues and merge requests. */
import type { Static } from 'typebox';
import type { Page } from '../../../http/index.ts';
import type { Content, Html } from '../../../pages/index.ts';
import type { AwardEmoji } from '../../conversation/award_emoji/index.ts';
import type { Discussion } from '../../conversation/discussions/index.ts';
import type { Note } from '../../conversation/notes/index.ts';

/** The name of a noun in operations. */
export type Noun = 'Issue' | 'MergeRequest' | 'Epic';

export type ShownNote = Static<typeof Note>;
export type Thread = Static<typeof Discussion>;
export type Award = Static<typeof AwardEmoji>;

/** A change of labels, state or similar. */
export interface Change {
  at: string;
  user: { username: string; name: string } | null;
  /** The action of the user, such as `closed this`. */
  what: Content;
}

/** A page of comments and changes, oldest first. */
export interface Timeline {
  threads: Page<Thread>;
  changes: readonly Change[];
  /** Whether there are more changes than were read. */
  has_more_changes: boolean;
}

/** The texts of notes as HTML, by their ids. */
export type NoteTexts = ReadonlyMap<number, Html | undefined>;
