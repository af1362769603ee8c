/** Reads what a single commit depends on, for policies about merge requests (docs/reference/security_policies.md#dependencies). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { type ReadFile, Unreadable } from '../../../lockfiles/index.ts';
import { tellWaiting } from '../commit_statuses/actions.ts';
import { lockAdvisories, matchPackages } from '../vulnerabilities/match_actions.ts';
import { entries, PackagesGone, readerVersion, withPackages } from './file_actions.ts';
import { included, listingsIn, maximumFiles, readWithParents, type Scan, scanOf, tooMany } from './scan_actions.ts';

interface Snapshot {
  id: number;
  project_id: number;
  commit_id: string;
}

async function storePackagesOf(tx: Database, { id }: Snapshot, { portions }: ReadFile): Promise<void> {
  await lockAdvisories(tx, 'shared');
  for (const portion of portions) {
    const members = ['ecosystem', 'advised_name', 'version', 'name', 'licenses'] as const;
    const { rows } = await sql<{ gone: number }>`
      with entry as materialized (
        select entry.*, package_versions.id as package_version_id
          from ${entries(portion, members)} left join package_versions using (ecosystem, advised_name, version)
      ), stored as (
        insert into dependency_snapshot_packages (snapshot_id, name, version, package_version_id, licenses)
        select distinct ${id}::bigint, name, version, package_version_id, licenses::text[] from entry
      )
      select count(*) as gone from entry where ecosystem is not null and package_version_id is null`.execute(tx);
    if (rows[0]!.gone > 0) throw new PackagesGone('Packages of the file were removed while it was stored.');
  }
}

/** @returns why the dependencies are not all known */
async function readAll(scan: Scan, snapshot: Snapshot): Promise<string | null> {
  const { listings: left } = await listingsIn(scan, snapshot.commit_id);
  const done = new Set<string>();
  for (let next = left.shift(); next; next = left.shift()) {
    scan.signal.throwIfAborted();
    if (done.has(next.path)) continue;
    if (done.size === maximumFiles) return tooMany;
    done.add(next.path);
    try {
      const file = await readWithParents(scan, next, []);
      await withPackages(scan.db, file, () =>
        scan.db.transaction().execute((tx) => storePackagesOf(tx, snapshot, file)),
      );
      left.push(...(await included(scan, file.includes)));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return `${next.path}: ${error.message}`;
    }
  }
  await matchPackages(scan.db);
  return null;
}

/**
 * Reads what a commit depends on, if somebody has asked for it and it is not known.
 * @param signal stops it between two files
 */
export async function readSnapshot(
  services: Pick<Services, 'db' | 'storages'>,
  { project_id, commit_id }: Omit<Snapshot, 'id'>,
  signal: AbortSignal,
): Promise<void> {
  const { db } = services;
  const asked = await db
    .selectFrom('dependency_snapshots')
    .select(['id', 'reader_version', 'read_at'])
    .where('project_id', '=', project_id)
    .where('commit_id', '=', commit_id)
    .executeTakeFirst();
  const known = await scanOf(services, project_id, signal);
  if (!asked || !known || (asked.read_at !== null && asked.reader_version === readerVersion)) return;
  const snapshot = { id: asked.id, project_id, commit_id };
  // What an interrupted reading has left.
  await db.deleteFrom('dependency_snapshot_packages').where('snapshot_id', '=', asked.id).execute();
  const error = await readAll({ ...known, commit_id }, snapshot);
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('dependency_snapshots')
      .set({ read_at: sql`now()`, reader_version: readerVersion, error })
      .where('id', '=', asked.id)
      .execute();
    await tellWaiting(tx, commit_id);
  });
}

/** How long a snapshot is kept after somebody has asked for it. */
const kept_days = 30;
const forgottenAtOnce = 1_000;

/** Forgets old snapshots, oldest first. */
export const forgetSnapshots = (db: Database) =>
  sql`delete from dependency_snapshots where id in (
        select id from dependency_snapshots where asked_at < now() - make_interval(days => ${sql.lit(kept_days)})
         order by asked_at limit ${sql.lit(forgottenAtOnce)})`.execute(db);
