/**
 * From where the server and its groups can be reached (docs/reference/addresses.md). The ranges are read when the version of rights has changed, so that a request costs
 * nothing; which groups are hidden from the address of a client goes along with it (`workFor`), and the predicates of visibility leave these out.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../db/index.ts';
import { inRanges, isLoopback, rangesIn } from '../foundation/address_ranges.ts';
import { currentClient } from '../foundation/clients.ts';
import type { Caller } from '../http/endpoint.ts';
import { ApiError } from '../http/errors.ts';
import type { Reading } from './instance.ts';
import { levels } from './levels.ts';

type Admits = (address: string) => boolean;

/** The ranges that are in force. */
interface AddressRules {
  /** Whether an address may reach the server. */
  admits: Admits;
  /** The ids of top-level groups with ranges of their own. */
  groups: readonly { id: number; admits: Admits }[];
}

/** What a client of an address meets. */
export interface Reach {
  is_admitted: boolean;
  /** The ids of top-level groups that are hidden from it. */
  hidden_groups: readonly number[];
}

const everywhere: Admits = () => true;

interface RulesRow {
  own: string;
  shared: string;
  groups: { id: number; ranges: string }[];
}

async function readRules(db: Database): Promise<AddressRules> {
  const { rows } = await sql<RulesRow>`
    select ip_restriction_ranges as own, globally_allowed_ips as shared,
           (select coalesce(json_agg(json_build_object('id', id, 'ranges', ip_restriction_ranges)), '[]') from namespaces
             where ip_restriction_ranges is not null and parent_id is null) as groups
      from application_settings`.execute(db);
  const { own, shared, groups } = rows[0]!;
  return {
    admits: own === '' ? everywhere : inRanges(rangesIn(own)),
    groups: groups.map(({ id, ranges }) => ({ id, admits: inRanges(rangesIn(`${ranges},${shared}`)) })),
  };
}

/** The ranges of each database, as this process has read them. */
const kept = new WeakMap<Database, AddressRules>();

async function rulesRead(db: Database): Promise<AddressRules> {
  const rules = await readRules(db);
  kept.set(db, rules);
  return rules;
}

/** Has ranges that were just changed count from the next request on in this process. */
export const forgetRanges = (db: Database): boolean => kept.delete(db);

const nothingHidden: readonly number[] = [];

function reachIn({ admits, groups }: AddressRules, address: string): Reach {
  const hidden =
    groups.length === 0 ? nothingHidden : groups.flatMap(({ id, admits: lets }) => (lets(address) ? [] : [id]));
  return { is_admitted: admits(address) || isLoopback(address), hidden_groups: hidden };
}

/**
 * What a client of an address may reach.
 * @returns a promise only if the ranges have to be read first
 */
export function reachOf(db: Database, address: string): Reach | Promise<Reach> {
  const rules = kept.get(db);
  return rules ? reachIn(rules, address) : rulesRead(db).then((read) => reachIn(read, address));
}

/**
 * Reads the ranges again, because rights have changed, and has them count for the request that has noticed it.
 * @throws ApiError 403 if its address may not reach the server any more
 */
export async function renewReach(db: Database): Promise<void> {
  const rules = await rulesRead(db);
  const client = currentClient();
  if (client?.address === undefined) return;
  const { is_admitted, hidden_groups } = reachIn(rules, client.address);
  if (!is_admitted) throw addressRefused();
  client.hidden_groups = hidden_groups;
}

/** The refusal of a client whose address may not reach the server. */
export const addressRefused = (): ApiError =>
  new ApiError(403, { message: '403 Forbidden - Your address is not allowed.' });

/** The ids of the top-level groups that are hidden from the current client. Administrators reach all. */
const hiddenFrom = (caller: Pick<Caller, 'admin'> | undefined): readonly number[] =>
  caller?.admin ? nothingHidden : (currentClient()?.hidden_groups ?? nothingHidden);

/** A predicate on rows of `projects`: none if no group is hidden from the current client. */
export function isReachableProject(caller: Pick<Caller, 'admin'> | undefined): RawBuilder<SqlBool> | undefined {
  const hidden = hiddenFrom(caller);
  if (hidden.length === 0) return undefined;
  return sql`not exists (select from namespaces place where place.id = projects.namespace_id and place.traversal_ids[1] = any(${hidden}::bigint[]))`;
}

/** A predicate on rows of `namespaces`: the same for groups. Owners reach a group to change its ranges. */
export function isReachableGroup(caller: Reading): RawBuilder<SqlBool> | undefined {
  const hidden = hiddenFrom(caller);
  if (hidden.length === 0) return undefined;
  const isOwned = caller
    ? sql`or exists (select from group_authorizations owned where owned.user_id = ${caller.id} and owned.group_id = namespaces.id and owned.access_level >= ${sql.lit(levels.owner)})`
    : sql``;
  return sql`(namespaces.traversal_ids[1] <> all(${hidden}::bigint[]) ${isOwned})`;
}

/** A predicate with a further one, if that is needed. */
export const both = (predicate: RawBuilder<SqlBool>, further: RawBuilder<SqlBool> | undefined): RawBuilder<SqlBool> =>
  further ? sql`(${predicate} and ${further})` : predicate;

/** Whether the current client reaches a project. */
export async function reachesProject(
  db: Database,
  caller: Pick<Caller, 'admin'> | undefined,
  project_id: number,
): Promise<boolean> {
  const isReachable = isReachableProject(caller);
  if (!isReachable) return true;
  const { rows } = await sql`select from projects where id = ${project_id} and ${isReachable}`.execute(db);
  return rows.length > 0;
}

/** Whether the current client reaches a group. */
export const reachesGroup = (
  caller: Pick<Caller, 'admin'> | undefined,
  { traversal_ids, access_level }: { traversal_ids: readonly number[]; access_level: number },
): boolean => access_level >= levels.owner || !hiddenFrom(caller).includes(traversal_ids[0]!);
