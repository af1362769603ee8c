/** What the success of a job brings: the address of its environment, and its release (docs/reference/runner_protocol.md#the-end-of-a-job). */
import { sql } from 'kysely';
import type { Project } from '../../../access/index.ts';
import { durationOf, expand, type Job, type Release, type Variables } from '../../../ci_configuration/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Caller, type Services } from '../../../http/index.ts';
import type { State } from '../../code/pipelines/index.ts';
import { noteInLogs } from '../held_jobs/log_actions.ts';
import type { HeldJob } from '../held_jobs/queries.ts';
import { type End, endJob } from './end_actions.ts';
import { valuesAtEnd } from './handing_out_actions.ts';
import type { Taken } from './taking_queries.ts';

/**
 * Checks the release of a job, and creates its tag if that is missing. Releases are not known here.
 * @param release whose texts have no variables any more
 * @returns what stores it
 * @throws ApiError
 */
export type ReleasePreparation = (
  services: Services,
  granted: { project: Project; caller: Caller },
  release: Release & { ref: string },
) => Promise<(tx: Database) => Promise<void>>;

/** The job with its definition, if its end brings more than the end of others does. */
async function concluding(db: Database, id: number): Promise<Taken | undefined> {
  const { rows } = await sql<Taken>`
    select job.id, job.name, job.pipeline_id, job.project_id, job.user_id, definition, timeout_s, 0 as queued_s, false as begins
      from commit_statuses job join job_runs on job_runs.job_id = job.id join job_definitions on job_definitions.job_id = job.id
     where job.id = ${id} and (definition->'job' ? 'release' or definition->'job'->'environment' ?| array['url', 'auto_stop_in'])`.execute(
    db,
  );
  return rows[0];
}

const optionally = <T>(given: T | undefined, make: (given: T) => T): T | undefined =>
  given === undefined ? undefined : make(given);

/** A release without variables. */
function expandedRelease(release: Release, values: Variables): Release & { ref: string } {
  const filled = (text: string) => expand(text, values);
  const { name, tag_message, released_at } = release;
  const given = Object.entries({ name, tag_message, released_at }).flatMap(([key, text]) =>
    text === undefined ? [] : [[key, filled(text)]],
  );
  return {
    ...Object.fromEntries(given),
    tag_name: filled(release.tag_name),
    description: filled(release.description),
    ref: filled(release.ref ?? '$CI_COMMIT_SHA'),
    milestones: release.milestones.map(filled),
    links: release.links.map(({ name: title, url, filepath, ...link }) => ({
      ...link,
      ...{ name: filled(title), url: filled(url) },
      ...(filepath === undefined ? {} : { filepath: filled(filepath) }),
    })),
  };
}

function outcomeOf({ definition: { job } }: Taken, values: Variables) {
  const { url, auto_stop_in } = job.environment ?? {};
  return {
    url: optionally(url, (text) => expand(text, values)),
    auto_stop_in_s: auto_stop_in === undefined ? undefined : durationOf(expand(auto_stop_in, values)),
  };
}

const reasonOf = ({ body }: ApiError): string => {
  const { message } = body as { message?: unknown };
  return typeof message === 'string' ? message : JSON.stringify(message);
};

/**
 * Ends a job whose runner reports success. It fails if its release is refused, and the last line of its log says why.
 * @returns the state of the job afterwards
 */
export async function endWithSuccess(
  services: Services,
  held: HeldJob,
  prepareRelease: ReleasePreparation,
): Promise<State> {
  const { db } = services;
  const job = await concluding(db, held.id);
  const known = job && (await valuesAtEnd(services, job));
  if (!job || !known) return endJob(db, held, { status: 'success' });
  const end: End = { status: 'success', environment: outcomeOf(job, known.values) };
  const { release } = job.definition.job as Job;
  if (!release) return endJob(db, held, end);
  try {
    const along = await prepareRelease(services, known, expandedRelease(release, known.values));
    return await endJob(db, held, { ...end, along });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await noteInLogs(db, [{ job_id: held.id, line: `ERROR: The release was refused: ${reasonOf(error)}` }]);
    return endJob(db, held, { status: 'failed', reason: 'release_failure' });
  }
}
