/** Placeholders: accounts that represent users of another server (docs/reference/placeholders.md). */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { addProposalTodo } from '../../activity/todos/index.ts';
import { usernameReasons } from '../../people/namespaces/index.ts';
import { tellOfProposal } from './mail_jobs.ts';

/** A person as described by their server. */
export interface SourcePerson {
  username: string;
  name: string;
  public_email: string | null;
}

/** The server whose people are described, and what is known about them. */
export interface Source {
  /** Includes the port, if the URL has one. */
  host: string;
  /** The top-level group that records are migrated into. */
  group_id: number;
  /** The account that runs the migration, and the id of its owner at the source, if known. */
  importer: { user_id: number; source_user_id: number | undefined };
  ghost_id: number;
  /** Whether the source is trusted to state people's email addresses. Otherwise the person is asked. */
  is_trusted: boolean;
  /** Described people, by their ids at the source. */
  described: ReadonlyMap<number, SourcePerson>;
}

/** Concurrent batches that refer to the same person must create only one placeholder. */
const lock = 726_673_005;
/** Attempts to find a free username: one with a random number can still be taken, because a user chose it. */
const maximumTries = 5;
/** The length to which usernames from another server are cut. */
const maximumUsername = 200;
const maximumName = 255;

/** The valid ones among ids from a source. */
const validIds = (source_ids: readonly number[]) =>
  [...new Set(source_ids)].filter((id) => Number.isSafeInteger(id) && id > 0);

/**
 * The accounts here of people of the source: the importer and, if the source is trusted, the accounts that have
 * confirmed the public address of a person.
 * @param source_ids ids of users at the source; the result omits those without an account here
 */
export async function accountsOf(
  db: Database,
  source: Source,
  source_ids: readonly number[],
): Promise<Map<number, number>> {
  const { importer, described, is_trusted } = source;
  const ids = validIds(source_ids);
  const accounts = is_trusted ? await accountsByAddress(db, described, ids) : new Map<number, number>();
  const own = importer.source_user_id;
  if (own !== undefined && ids.includes(own)) accounts.set(own, importer.user_id);
  return accounts;
}

async function accountsByAddress(
  db: Database,
  described: Source['described'],
  ids: readonly number[],
): Promise<Map<number, number>> {
  const addressed = ids.flatMap((id) => {
    const email = described.get(id)?.public_email;
    return email ? [{ id, email: plain(email, maximumName) }] : [];
  });
  if (addressed.length === 0) return new Map();
  const { rows } = await sql<{ source_user_id: number; user_id: number }>`
    select person.id as source_user_id, users.id as user_id
      from jsonb_to_recordset(${JSON.stringify(addressed)}::jsonb) as person (id bigint, email citext)
      join emails on emails.email = person.email and emails.confirmed_at is not null
      join users on users.id = emails.user_id and users.user_type = 'human' and users.state = 'active'`.execute(db);
  return new Map(rows.map(({ source_user_id, user_id }) => [source_user_id, user_id]));
}

async function knownPlaceholders(
  tx: Database,
  { host, group_id }: Source,
  ids: readonly number[],
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ source_user_id: number; user_id: number }>`
    select source_user_id, user_id from placeholders
     where group_id = ${group_id} and source_host = ${host} and source_user_id = any(${ofAnyLength(ids, 'bigint[]')})`.execute(
    tx,
  );
  return new Map(rows.map(({ source_user_id, user_id }) => [source_user_id, user_id]));
}

/** A text that PostgreSQL and our own rules accept. */
const plain = (text: string, longest: number) =>
  text.replaceAll('\0', '').toWellFormed().slice(0, longest).toWellFormed().trim();

function namesOf({ username, name }: SourcePerson) {
  const handle = plain(username, maximumUsername);
  const isUsername = handle !== '' && usernameReasons(handle).length === 0;
  return { source_username: handle, source_name: plain(name, maximumName), stem: isUsername ? handle : 'user' };
}

/**
 * Adds accounts without address, password or namespace. Their `email` is in a domain that cannot exist (RFC 2606) and
 * has no row in `emails`. A user who has confirmed the address given by the source is asked whether they are that
 * person.
 */
async function addPlaceholders(tx: Database, source: Source, ids: readonly number[]) {
  const { host, group_id, described, importer } = source;
  const made = new Map<number, number>();
  let missing = ids.filter((id) => described.has(id));
  const proposed = await accountsByAddress(tx, described, missing);
  for (let tries = 0; missing.length > 0; tries++) {
    if (tries === maximumTries) throw new Error('No free username was found for a placeholder.');
    const people = missing.map((id) => ({ id, proposed: proposed.get(id) ?? null, ...namesOf(described.get(id)!) }));
    const { rows } = await sql<{ source_user_id: number; user_id: number }>`
      with named as materialized (
        select *, stem || '_placeholder_' || user_id as username
          from (select *, nextval(pg_get_serial_sequence('users', 'id')) as user_id
                  from jsonb_to_recordset(${JSON.stringify(people)}::jsonb) as person (id bigint, proposed bigint, source_username text, source_name text, stem text)) numbered
      ), added as (
        insert into users (id, username, name, email, user_type, projects_limit, can_create_group, private_profile) overriding system value
        select user_id, username, coalesce(nullif(source_name, ''), username), gen_random_uuid() || '@placeholder.invalid', 'placeholder', 0, false, true
          from named where not exists (select from namespaces where full_path = named.username::citext)
        on conflict (username) do nothing returning id, username
      )
      insert into placeholders (user_id, group_id, source_host, source_user_id, source_username, source_name, proposed_user_id, proposed_by_id)
      select added.id, ${group_id}, ${host}, named.id, source_username, source_name, proposed, case when proposed is not null then ${importer.user_id}::bigint end
        from added join named on named.username = added.username::text
      returning source_user_id, user_id`.execute(tx);
    for (const { source_user_id, user_id } of rows) {
      made.set(source_user_id, user_id);
      const asked = proposed.get(source_user_id);
      if (asked === undefined) continue;
      await addProposalTodo(tx, { user_id: asked, placeholder_id: user_id, group_id, author_id: importer.user_id });
      await tellOfProposal.enqueue(tx, { placeholder_id: user_id });
    }
    missing = missing.filter((id) => !made.has(id));
  }
  return made;
}

/**
 * The users here to whom records of another server belong: the importer, accounts matched by an address from a trusted
 * source, and otherwise placeholders, which are created if new. The ghost user stands in for people without a
 * description.
 * @param tx a transaction. It waits for others that create placeholders, so call this before its other writes
 * @param source_ids ids of users at the source
 * @returns a user for each of the ids
 */
export async function peopleOf(
  tx: Database,
  source: Source,
  source_ids: readonly number[],
): Promise<Map<number, number>> {
  const ids = validIds(source_ids);
  const people = await accountsOf(tx, source, ids);
  const add = (found: ReadonlyMap<number, number>) => {
    for (const [source_id, user_id] of found) people.set(source_id, user_id);
  };
  const others = () => ids.filter((id) => !people.has(id));
  add(await knownPlaceholders(tx, source, others()));
  if (others().some((id) => source.described.has(id))) {
    await sql`select pg_advisory_xact_lock(${lock})`.execute(tx);
    add(await knownPlaceholders(tx, source, others()));
    add(await addPlaceholders(tx, source, others()));
  }
  add(new Map(source_ids.filter((id) => !people.has(id)).map((id) => [id, source.ghost_id])));
  return people;
}

/** A direct membership at the source. */
export interface KeptMembership {
  /** The user id of the placeholder. */
  user_id: number;
  access_level: number;
  /** `YYYY-MM-DD`, the first day without it. */
  expires_at: string | null;
}

/**
 * Stores memberships of people without an account here until they are reassigned.
 * @param tx a transaction
 * @param place the group or project here; an existing membership for it is replaced
 * @param memberships those of users who are not placeholders are ignored
 */
export async function keepMemberships(
  tx: Database,
  place: { group_id: number } | { project_id: number },
  memberships: readonly KeptMembership[],
): Promise<void> {
  const [column, id] = 'group_id' in place ? ['group_id', place.group_id] : ['project_id', place.project_id];
  await sql`
    insert into placeholder_memberships (user_id, ${sql.ref(column)}, access_level, expires_at)
    select user_id, ${id}, access_level, expires_at
      from jsonb_to_recordset(${JSON.stringify(memberships)}::jsonb) as kept (user_id bigint, access_level integer, expires_at date)
     where user_id in (select user_id from placeholders)
    on conflict (user_id, ${sql.ref(column)}) do update set access_level = excluded.access_level, expires_at = excluded.expires_at`.execute(
    tx,
  );
}
