/** Background jobs that scan the dependencies of projects. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import type { PushFollower } from '../../../services/index.ts';
import { lockAdvisories } from '../vulnerabilities/match_actions.ts';
import { tidyExports } from './export_actions.ts';
import { scanProject } from './scan_actions.ts';
import { forgetSnapshots } from './snapshot_actions.ts';

/** Enqueued by `scanSoon`. */
export const scanDependencies = job('scan_dependencies', {
  input: { project_id: Id },
  retries: 5,
  run: async ({ input, signal, ...services }) => scanProject(services, input.project_id, signal),
});

/** How long a scan waits for further commits, so that a quick succession of commits is scanned once. */
const pause_s = 1;

/**
 * Schedules a rescan of the project's dependencies.
 * @param tx the transaction that changes the branch, or the settings of the scan
 */
export const scanSoon = (tx: Database, project_id: number): Promise<void> =>
  scanDependencies.enqueue(tx, { project_id }, { key: String(project_id), after_s: pause_s });

/** Schedules a rescan when the default branch has moved or was replaced. */
export const dependencyFollower: PushFollower = {
  follow:
    async (_services, { owner, moved }) =>
    async (tx, default_branch) => {
      if (moved.length === 0 || moved.some(({ ref }) => ref === `refs/heads/${default_branch}`))
        await scanSoon(tx, owner.id);
    },
};

const enqueuedAtOnce = 500;

/** Removes unreferenced packages, while no transaction stores one that could reference them. */
const forgetPackages = (db: Database): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await lockAdvisories(tx, 'exclusive');
    await sql`
      delete from package_versions
       where created_at < now() - interval '1 day' and not exists (select from dependencies where package_version_id = package_versions.id)
         and not exists (select from dependency_snapshot_packages where package_version_id = package_versions.id)`.execute(
      tx,
    );
  });

/** Scans projects that were never scanned (such as those older than this feature), and removes unreferenced packages, expired exports and old snapshots. */
export const keepDependencies = job('keep_dependencies', {
  input: {},
  retries: 0,
  schedule: '47 * * * *',
  run: async ({ db }) => {
    const { rows } = await sql<{ project_id: number }>`
      select id as project_id from projects
       where not empty_repo and not exists (select from dependency_scans where project_id = projects.id)
       order by id limit ${enqueuedAtOnce}`.execute(db);
    await scanDependencies.enqueueEach(db, rows);
    await tidyExports(db);
    await forgetSnapshots(db);
    await forgetPackages(db);
  },
});
