/** Files of jobs of other pipelines that a job needs (docs/reference/job_artifacts.md#files-of-other-pipelines). */
import { sql } from 'kysely';
import { levels, mayRead, mayUse, projectFor } from '../../../access/index.ts';
import { expandWithin, Invalid, type Need, type Variables } from '../../../ci_configuration/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError } from '../../../http/index.ts';
import type { Dependency } from '../artifacts/dependency_queries.ts';
import { archiveOf, isThere } from '../artifacts/queries.ts';
import type { Given } from './variable_queries.ts';

type Foreign = Exclude<Need, { type: 'job' }>;

/** The needs of a job of which another pipeline has the files. */
export const foreignNeeds = ({ job: { definition } }: Pick<Given, 'job'>): Foreign[] =>
  (definition.needs ?? []).flatMap((need) => (need.type !== 'job' && need.artifacts ? [need] : []));

const columns = sql`job.id, job.name, false as erased, job_artifacts.filename, job_artifacts.size_bytes as size`;
const ready = sql`
  commit_statuses job join job_artifacts on job_artifacts.job_id = job.id and file_type = 'archive' and ${isThere}`;
const hasSucceeded = sql`job.kind = 'job' and job.status = 'success' and not job.retried`;

/** A job of the parent of a pipeline, or of another child of it. */
async function inFamily(
  db: Database,
  { pipeline_id, id, name }: { pipeline_id: number; id: string; name: string },
): Promise<Dependency | undefined> {
  const { rows } = await sql<Dependency>`
    select ${columns} from pipelines own join pipelines other on other.id = own.parent_id or (other.parent_id = own.parent_id and other.id <> own.id)
           join ${ready} on job.pipeline_id = other.id
     where own.id = ${pipeline_id} and other.id::text = ${id} and job.name = ${name} and ${hasSucceeded}`.execute(db);
  return rows[0];
}

/** The pipelines of a branch or tag among which a job is looked for. */
const searched = 100;

/** The newest job of a name that has succeeded for a branch or tag of a project, if the user of a job may read its files. */
async function inProject(
  db: Database,
  { caller }: Pick<Given, 'caller'>,
  { full_path, ref, name }: { full_path: string; ref: string; name: string },
): Promise<Dependency | undefined> {
  const project = full_path.includes('/') ? await projectFor(db, caller, full_path) : undefined;
  if (!project || !mayRead(caller, project) || !mayUse(project, 'repository')) return undefined;
  if (project.visibility === 'private' && project.access_level < levels.reporter) return undefined;
  const { rows } = await sql<Dependency>`
    select ${columns}
      from (select id from pipelines where project_id = ${project.id} and ref = ${ref} and source <> 'external' order by id desc limit ${searched}) latest
           join ${ready} on job.pipeline_id = latest.id
     where job.name = ${name} and ${hasSucceeded} order by job.id desc limit 1`.execute(db);
  if (!rows[0]) return undefined;
  try {
    await archiveOf(db, project, rows[0].id);
    return rows[0];
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** A name with variables in it; one that would be too large is none. */
function textWith(values: Variables, written: string): string {
  try {
    return expandWithin(written, values);
  } catch (error) {
    if (error instanceof Invalid) return '';
    throw error;
  }
}

/**
 * The jobs of other pipelines whose files a job needs. It may fetch them while it runs.
 * @param values of its variables
 * @returns undefined if one is not there
 */
export async function foreignDependencies(
  db: Database,
  given: Given,
  values: Variables,
): Promise<Dependency[] | undefined> {
  const { job, pipeline } = given;
  const text = (written: string) => textWith(values, written);
  const found: Dependency[] = [];
  for (const need of foreignNeeds(given)) {
    const name = need.job;
    const dependency =
      need.type === 'pipeline'
        ? await inFamily(db, { pipeline_id: pipeline.id, id: text(need.pipeline), name })
        : await inProject(db, given, { full_path: text(need.project), ref: text(need.ref), name });
    if (!dependency) return undefined;
    found.push(dependency);
  }
  await sql`
    insert into job_dependencies (job_id, dependency_id)
    select ${job.id}, unnest(${found.map(({ id }) => id)}::bigint[]) on conflict do nothing`.execute(db);
  return found;
}
