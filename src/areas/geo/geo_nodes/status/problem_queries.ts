/** What is wrong with this site that its numbers do not show, in sentences. */
import { statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Services } from '../../../../http/index.ts';
import { followingOf } from '../../following/index.ts';

/** The room on a disk below which copying fails soon. */
const leastRoom_bytes = 512 * 1024 * 1024;

async function isFull(folder: string): Promise<boolean> {
  // Whether the folder can be used at all is said at the start.
  const found = await statfs(folder).catch(() => undefined);
  return found !== undefined && found.bavail * found.bsize < leastRoom_bytes;
}

/** The storages whose disk has no room left. */
async function fullStorages({ storages }: Pick<Services, 'storages'>): Promise<string[]> {
  const places = Object.entries(storages);
  const full = await Promise.all(places.map(([, folder]) => isFull(folder)));
  return places.filter((_, index) => full[index]).map(([name]) => `The disk of the storage ${name} is full.`);
}

/** Whether a secondary that copies everything has not yet listed what there is: its numbers are zeroes then, and say nothing. */
async function isUnlisted({ db, geo }: Pick<Services, 'db' | 'geo'>): Promise<boolean> {
  const { rows } = await sql`
    select from geo_nodes where name = ${geo.nodeName} and selective_sync_type is null
       and exists (select from projects where not empty_repo) and not exists (select from geo_replicas)`.execute(db);
  return rows.length > 0;
}

/** How the database of a secondary is, and what is wrong with it. */
async function databaseOf(
  services: Pick<Services, 'db' | 'geo'>,
): Promise<{ lag_seconds: number | null; problems: string[] }> {
  const following = await followingOf(services.db);
  if (!following) return { lag_seconds: null, problems: ['The database does not follow the primary.'] };
  const { state, problem, isCopied, lag_seconds } = following;
  const isCopying = state === 'copying' || !isCopied;
  const copying = isCopying
    ? ['The database is being copied.']
    : (await isUnlisted(services))
      ? ['What is to be copied is not known yet.']
      : [];
  return {
    lag_seconds: lag_seconds === null ? null : Math.round(lag_seconds),
    problems: [...(problem === null ? [] : [problem]), ...copying],
  };
}

/** What is wrong here, the worst first, and the lag of the database, which is null on a primary. */
export async function problemsHere(
  services: Pick<Services, 'db' | 'geo' | 'storages'>,
): Promise<{ lag_seconds: number | null; problems: string[] }> {
  const database = services.geo.role === 'secondary' ? await databaseOf(services) : { lag_seconds: null, problems: [] };
  return { ...database, problems: [...database.problems, ...(await fullStorages(services))] };
}
