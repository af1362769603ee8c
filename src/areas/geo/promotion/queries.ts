/** Which site is the primary, and whether this one could become it. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { OutboundError } from '../../../outbound/index.ts';
import { followingOf } from '../following/queries.ts';
import { askPrimaryForJson, type Site as LinkedSite, PrimaryRefusal, shakeHands } from '../link/request_actions.ts';
import type { Primacy } from './http.ts';

const patience_ms = 3000;

/** Whether this server was promoted to primary, whatever its configuration. */
export async function isPromoted(db: Database): Promise<boolean> {
  const { rows } = await sql`select from geo_following where promoted_at is not null`.execute(db);
  return rows.length > 0;
}

/** The site at an address, if it claims to be the primary; otherwise, and without a response, undefined. */
async function primacyAt(site: LinkedSite, address: string): Promise<Primacy | undefined> {
  const there = { ...site, geo: { ...site.geo, primaryUrl: address.replace(/\/$/, '') } };
  try {
    return await askPrimaryForJson<Primacy>(there, { method: 'GET', path: '/primary', silence_ms: patience_ms });
  } catch (error) {
    if (error instanceof PrimaryRefusal || error instanceof OutboundError) return undefined;
    throw error;
  }
}

/**
 * Asks the other sites whether one of them was promoted after this one.
 * @returns its name
 */
export async function successorOf(services: Pick<Services, 'db' | 'geo' | 'secrets'>): Promise<string | undefined> {
  const { db, geo } = services;
  const nodes = await db.selectFrom('geo_nodes').select(['name', 'url', 'internal_url', 'promoted_at']).execute();
  const isOwn = ({ name }: { name: string }) => name.toLowerCase() === geo.nodeName.toLowerCase();
  const since = nodes.find(isOwn)?.promoted_at ?? '';
  const others = nodes.filter((node) => !isOwn(node));
  const answers = await Promise.all(others.map(({ url, internal_url }) => primacyAt(services, internal_url ?? url)));
  return answers.find((answer) => answer?.promoted_at && new Date(answer.promoted_at) > new Date(since || 0))?.name;
}

/** Copies that differ from the primary's originals, by type. */
export async function copiesBehind(db: Database): Promise<{ replicable: string; count: number }[]> {
  const { rows } = await sql<{ replicable: string; count: number }>`
    select replicable, count(*)::integer as count from geo_replicas where state <> 'synced' group by replicable order by replicable`.execute(
    db,
  );
  return rows;
}

/** Why this site cannot be promoted, as a sentence. */
export async function obstacleTo(services: Pick<Services, 'db' | 'geo' | 'secrets'>): Promise<string | undefined> {
  const { db, geo } = services;
  if (geo.role !== 'secondary') return 'Only a secondary can be promoted: COPPICE_GEO_ROLE is not secondary.';
  if (await isPromoted(db)) return 'This site is the primary already.';
  if (!(await followingOf(db))?.isCopied) return 'The database has not been copied completely.';
  const own = await db.selectFrom('geo_nodes').select('id').where('name', '=', geo.nodeName).executeTakeFirst();
  return own ? undefined : `There is no node ${geo.nodeName}.`;
}

/** Whether the primary of a secondary answers. */
export async function isPrimaryAlive(site: LinkedSite): Promise<boolean> {
  try {
    await shakeHands(site, patience_ms);
    return true;
  } catch (error) {
    if (error instanceof OutboundError) return false;
    if (error instanceof PrimaryRefusal) return true;
    throw error;
  }
}
