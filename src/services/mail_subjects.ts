/** The subjects of mail. The areas of the nouns provide them, so that the area that sends notifications depends on no noun. */
import type { RawBuilder, SqlBool } from 'kysely';
import type { Database } from '../db/index.ts';
import type { RepositoryServices } from './repositories.ts';

/** The project or group of a message's subject. */
export interface MailPlace {
  place_id: number;
  place_name: string;
  full_path: string;
  /** The git storage of a project. */
  storage: string | null;
  /** The group that it is in, after those around that one. */
  groups: number[];
}

/** The description of an object in a message. */
export interface MailItem {
  /** The kind of thing, e.g. `merge request`. */
  name: string;
  /** What follows the name, e.g. `#12`. */
  label: string;
  title: string | null;
  /** The text for a new object. */
  description: string | null;
  /** As the first message about it is identified, e.g. `issue_12`. */
  thread: string;
  /** The path of its page, with a slash before it. */
  page: string;
  /** Headers by which mail programs sort, without their prefix. */
  facts: Readonly<Record<string, string | number>>;
  assignees?: string[];
  reviewers?: string[];
  /** What a message about it lists, whatever happened. */
  details?: [name: string, value: string][];
}

/** Users who are involved with an object. Relations that the object lacks are left out. */
export interface MailPeople {
  /** Predicates on rows of `users`. */
  isAssignee?: RawBuilder<SqlBool>;
  isReviewer?: RawBuilder<SqlBool>;
  hasUnsubscribed?: RawBuilder<SqlBool>;
  /** Selects of ids of users: mentioned in its description, subscribed to it, and subscribed to its labels. */
  mentioned?: RawBuilder<unknown>;
  subscribers?: RawBuilder<unknown>;
  labelSubscribers?: RawBuilder<unknown>;
}

type Reading = Pick<RepositoryServices, 'db' | 'storages'>;

/** An object that a message is about. */
export interface MailSubject {
  /** Its row with `projects` or `namespaces`, for `from` and `where`. */
  row: { rows: RawBuilder<unknown>; isIts: RawBuilder<SqlBool> };
  /** Whether it is in a group and not in a project. */
  is_in_group: boolean;
  /**
   * A predicate on rows of `users`: the user may read it.
   * @param is_internal whether an internal comment on it, too
   */
  isReader(is_internal: boolean): RawBuilder<SqlBool>;
  /**
   * A select of the ids of its participants.
   * @param are_members whether all members of its project are meant, as by some events
   */
  participants(are_members: boolean): RawBuilder<unknown>;
  people: MailPeople;
  /** What a recipient can unsubscribe from. */
  subscribable?: { type: string; id: number };
  /** @returns undefined when it is gone */
  describe(services: Reading, place: MailPlace): Promise<MailItem | undefined>;
  /** Others who hear of every comment on it. */
  authors?(services: Reading): Promise<number[]>;
  /** The event that an event on it really is. */
  eventFor?(db: Database, event: string): Promise<string>;
}

/** A comment that a message is about. */
export interface MailNote {
  id: number;
  body: string;
  discussion_id: string;
  internal: boolean;
  /** A select of the ids of the users that it mentions. */
  mentioned: RawBuilder<unknown>;
}

/** Finds what notifications of some types are about. */
export interface MailTarget {
  /** As events name them, e.g. `MergeRequest` or `DiffNote`. */
  types: readonly string[];
  /** @returns undefined when it is gone; `note` is the comment, if it is one */
  find(db: Database, id: number, type: string): Promise<{ subject: MailSubject; note?: MailNote } | undefined>;
}
