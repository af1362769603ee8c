/** Bundles: archives of source maps, assembled from chunks. */
import { sql } from 'kysely';
import type { Project } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import type { Caller } from '../../../../http/index.ts';
import { versionIn } from '../releases/version_actions.ts';
import { missingChunks } from './chunk_actions.ts';
import { unpackBundle } from './jobs.ts';

export interface AskedBundle {
  /** SHA-1 of the whole bundle and of each chunk, in hexadecimal. */
  checksum: string;
  chunks: readonly string[];
  version: string | undefined;
  dist: string;
}

/** In Sentry's format. */
export interface Assembly {
  state: 'not_found' | 'created' | 'ok' | 'error';
  missingChunks: string[];
  detail: string | null;
}

interface Known {
  state: 'created' | 'ok' | 'error';
  detail: string | null;
}

const knownBundle = async (
  db: Database,
  project: Project,
  { checksum, version, dist }: AskedBundle,
): Promise<Known | undefined> => {
  const { rows } = await sql<Known>`
    select state, detail from error_tracking_bundles bundles
     where project_id = ${project.id} and checksum = decode(${checksum}, 'hex') and dist = ${dist}
       and version_id is not distinct from (
             select id from error_tracking_versions versions where versions.project_id = ${project.id} and version = ${version ?? null})`.execute(
    db,
  );
  return rows[0];
};

/** Adds a bundle, and enqueues the job that unpacks it. A bundle that could not be unpacked is retried. */
const addBundle = (db: Database, caller: Caller, project: Project, asked: AskedBundle): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const version_id = asked.version === undefined ? null : await versionIn(tx, project, asked.version);
    const { rows } = await sql<{ id: number }>`
      insert into error_tracking_bundles as bundles (project_id, user_id, version_id, dist, checksum, chunks)
      values (${project.id}, ${caller.id}, ${version_id}, ${asked.dist}, decode(${asked.checksum}, 'hex'),
              ${[...asked.chunks]}::text[])
      on conflict (project_id, checksum, version_id, dist) do update
        set state = 'created', detail = null, user_id = excluded.user_id, chunks = excluded.chunks where bundles.state = 'error'
      returning id`.execute(tx);
    for (const { id } of rows) await unpackBundle.enqueue(tx, { bundle_id: id });
  });

/**
 * Returns the state of a bundle, and starts unpacking it when all of its chunks are present.
 * @param projects the projects of the bundle
 * @throws ApiError 400 if a project would have too many releases
 */
export async function assemble(
  db: Database,
  caller: Caller,
  projects: readonly Project[],
  asked: AskedBundle,
): Promise<Assembly> {
  const known = await Promise.all(projects.map((project) => knownBundle(db, project, asked)));
  const unknown = projects.filter((_, index) => known[index] === undefined || known[index].state === 'error');
  if (unknown.length > 0) {
    const missing = await missingChunks(db, caller.id, asked.chunks);
    const failed = known.find((bundle) => bundle?.state === 'error');
    if (missing.length > 0 && failed) return { state: 'error', missingChunks: [], detail: failed.detail };
    if (missing.length > 0) return { state: 'not_found', missingChunks: missing, detail: null };
    for (const project of unknown) await addBundle(db, caller, project, asked);
  }
  const isDone = unknown.length === 0 && known.every((bundle) => bundle?.state === 'ok');
  return { state: isDone ? 'ok' : 'created', missingChunks: [], detail: null };
}
