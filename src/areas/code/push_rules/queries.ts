/** Queries for push rules, and for the users whose addresses they check. */
import { sql } from 'kysely';
import { commitEmailOf, type Owner, planInForce } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { ownersOfAddresses } from '../../people/emails/index.ts';
import { type Rule, ruleNames } from './rules.ts';

/** The rule of a project or group. */
export const rulesOf = (db: Database, { project_id, group_id }: Owner) =>
  db
    .selectFrom('push_rules')
    .select(['id', 'created_at', ...ruleNames])
    .where(project_id === null ? 'group_id' : 'project_id', '=', project_id ?? group_id);

/** The rule for pushes to a project; undefined if there is none, or if the plan in force has no push rules. */
export const ruleInForce = (db: Database, project_id: number): Promise<Rule | undefined> =>
  db
    .selectFrom('push_rules')
    .select(ruleNames)
    .where('project_id', '=', project_id)
    .where(sql<boolean>`${planInForce} <> 'free'`)
    .executeTakeFirst();

/** The initial rule of a new project in a namespace: that of the nearest group, if the plan in force has push rules. */
export const ruleForNew = (db: Database, namespace_id: number): Promise<Rule | undefined> =>
  db
    .selectFrom('namespaces as place')
    .innerJoin('push_rules as template', (join) =>
      join.on('template.group_id', '=', sql<number>`any(place.traversal_ids)`),
    )
    .select(ruleNames.map((name) => `template.${name}` as const))
    .where('place.id', '=', namespace_id)
    .where(sql<boolean>`${planInForce} <> 'free'`)
    .orderBy(sql`array_position(place.traversal_ids, template.group_id)`, 'desc')
    .executeTakeFirst();

/** The user who pushes, with their addresses in lower case. */
export interface Pusher {
  name: string;
  /** Verified addresses and the private address. */
  own: ReadonlySet<string>;
  unverified: ReadonlySet<string>;
}

/** The user who pushes. For an unknown user, name and addresses are empty, so that rules on them refuse. */
export async function pusherWith({ db, url }: Pick<Services, 'db' | 'url'>, user_id: number): Promise<Pusher> {
  const rows = await db
    .selectFrom('users')
    .leftJoin('emails', 'emails.user_id', 'users.id')
    .select(['users.username', 'users.name', 'emails.email', 'emails.confirmed_at'])
    .where('users.id', '=', user_id)
    .execute();
  const addresses = (isVerified: boolean) =>
    rows.flatMap(({ email, confirmed_at }) =>
      email !== null && (confirmed_at !== null) === isVerified ? email.toLowerCase() : [],
    );
  const [user] = rows;
  if (!user) return { name: '', own: new Set(), unverified: new Set() };
  return {
    name: user.name,
    own: new Set([...addresses(true), privateAddress({ id: user_id, username: user.username }, url)]),
    unverified: new Set(addresses(false)),
  };
}

/** The private commit address of a user who hides their own address. */
const privateAddress = ({ id, username }: { id: number; username: string }, url: string): string =>
  commitEmailOf({ id, username, email: '', commit_email: '_private', has_proved_email: false }, url).toLowerCase();

/**
 * The given addresses that belong to users of this server, as verified or private addresses.
 * @param emails in lower case
 */
export async function addressesOfUsers(
  { db, url }: Pick<Services, 'db' | 'url'>,
  emails: readonly string[],
): Promise<Set<string>> {
  const owners = await ownersOfAddresses(db, emails);
  return new Set(
    owners.map(
      ({ user_id, username, email }) => email?.toLowerCase() ?? privateAddress({ id: user_id, username }, url),
    ),
  );
}
