/** Problems of this site that its counts do not show, as sentences. */
import { statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Services } from '../../../../http/index.ts';
import { followingOf } from '../../following/queries.ts';

/** Below this free disk space, copying soon fails. */
const leastRoom_bytes = 512 * 1024 * 1024;

async function isFull(folder: string): Promise<boolean> {
  // Whether the folder is usable at all is reported at startup.
  const found = await statfs(folder).catch(() => undefined);
  return found !== undefined && found.bavail * found.bsize < leastRoom_bytes;
}

/** The storages whose disks are full. */
async function fullStorages({ storages }: Pick<Services, 'storages'>): Promise<string[]> {
  const places = Object.entries(storages);
  const full = await Promise.all(places.map(([, folder]) => isFull(folder)));
  return places.filter((_, index) => full[index]).map(([name]) => `The disk of the storage ${name} is full.`);
}

/**
 * Whether a secondary without selective synchronization has not yet listed the records to copy: until then its counts
 * are meaningless zeroes.
 */
async function isUnlisted({ db, geo }: Pick<Services, 'db' | 'geo'>): Promise<boolean> {
  const { rows } = await sql`
    select from geo_nodes where name = ${geo.nodeName} and selective_sync_type is null
       and exists (select from projects where not empty_repo) and not exists (select from geo_replicas)`.execute(db);
  return rows.length > 0;
}

/** The replication lag of a secondary's database, and its problems. */
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

/** The problems of this site, the worst first, and the lag of the database, which is null on a primary. */
export async function problemsHere(
  services: Pick<Services, 'db' | 'geo' | 'storages'>,
): Promise<{ lag_seconds: number | null; problems: string[] }> {
  const database = services.geo.role === 'secondary' ? await databaseOf(services) : { lag_seconds: null, problems: [] };
  return { ...database, problems: [...database.problems, ...(await fullStorages(services))] };
}
