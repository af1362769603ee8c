/** Issues, epics and merge requests in mail. */
import { sql } from 'kysely';
import { type Issuable, type IssuableKind, isAbout } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { MailItem, MailPlace, MailSubject } from '../../../services/index.ts';
import { readersOf } from '../../activity/notifications/index.ts';
import { participants } from './queries.ts';

/** The names of its assignees or reviewers. */
const namesIn = (table: string | undefined, { kind, id }: Issuable) =>
  table === undefined
    ? sql`array[]::text[]`
    : sql`array(select name from ${sql.table(table)} people join users on users.id = people.user_id
        where people.${sql.ref(kind.column)} = ${id} order by users.id)`;

interface Row extends Pick<MailItem, 'title' | 'description'> {
  iid: number;
  state: string;
  assignees: string[];
  reviewers: string[];
  /** Null for kinds without confidentiality. */
  confidential: boolean | null;
}

async function describe(db: Database, on: Issuable, { full_path }: MailPlace): Promise<MailItem | undefined> {
  const { kind, id } = on;
  const confidential = kind.table === 'merge_requests' ? sql`null::boolean` : sql`confidential`;
  const { rows } = await sql<Row>`
    select iid, title, description, state, ${confidential} as confidential, ${namesIn(kind.assignees, on)} as assignees, ${namesIn(kind.reviewers, on)} as reviewers
      from ${sql.table(kind.table)} where id = ${id}`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  const { iid, state, confidential: isConfidential, ...rest } = row;
  return {
    ...rest,
    name: kind.name,
    label: `${kind.sign}${iid}`,
    thread: `${kind.reference}_${id}`,
    page: kind.page(full_path, iid),
    facts: {
      [`${kind.type}-ID`]: id,
      [`${kind.type}-IID`]: iid,
      [`${kind.type}-State`]: state,
      ...(kind.type === 'Issue' ? { ConfidentialIssue: String(isConfidential) } : {}),
    },
  };
}

/** A predicate on rows of `users`: the user is in a table of its people. */
const isIn = (table: string, on: Issuable) =>
  sql<boolean>`exists (select from ${sql.table(table)} people where ${isAbout('people', on)} and people.user_id = users.id)`;

/** The items of a kind in mail, by id. */
export const issuableMail =
  (kind: IssuableKind) =>
  (id: number): MailSubject => {
    const on = { kind, id };
    const isSubscription = isAbout('subscriptions', on);
    return {
      ...readersOf(on),
      participants: () => participants(on),
      people: {
        ...(kind.assignees ? { isAssignee: isIn(kind.assignees, on) } : {}),
        ...(kind.reviewers ? { isReviewer: isIn(kind.reviewers, on) } : {}),
        mentioned: sql`select user_id from user_mentions where note_id is null and ${isAbout('user_mentions', on)}`,
        subscribers: sql`select user_id from subscriptions where ${isSubscription} and subscribed`,
        labelSubscribers: sql`
          select user_id from subscriptions
           where subscribed and label_id in (select label_id from ${sql.table(kind.labels)} labels where ${isAbout('labels', on)})`,
        hasUnsubscribed: sql`exists (select from subscriptions where user_id = users.id and ${isSubscription} and not subscribed)`,
      },
      subscribable: { type: kind.type, id },
      describe: ({ db }, place) => describe(db, on, place),
    };
  };
