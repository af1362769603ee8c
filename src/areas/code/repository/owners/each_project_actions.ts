/** Processes the repositories of many projects one after the other, so that git processes stay free for requests. */
import type { RawBuilder } from 'kysely';
import type { Database } from '../../../../db/index.ts';

/** A project and the location of its repository. */
export interface ProjectPlace {
  id: number;
  storage: string;
  default_branch: string;
}

const projectsAtOnce = 100;

/**
 * Runs a function for each project.
 * @param wanted a condition on the rows of projects
 * @param failed returns the error message for a number of failures
 * @param signal stops it between two projects
 * @throws AggregateError with the failures of single projects, after all others were processed
 */
export async function forEachProject(
  db: Database,
  wanted: RawBuilder<boolean>,
  {
    run,
    failed,
    signal,
  }: { run: (project: ProjectPlace) => Promise<unknown>; failed: (count: number) => string; signal: AbortSignal },
): Promise<void> {
  const failures: unknown[] = [];
  for (let after = 0; ; ) {
    const projects = await db
      .selectFrom('projects')
      .select(['id', 'storage', 'default_branch'])
      .where('id', '>', after)
      .where(wanted)
      .orderBy('id')
      .limit(projectsAtOnce)
      .execute();
    for (const project of projects) {
      signal.throwIfAborted();
      await run(project).catch((error) => failures.push(error));
    }
    if (projects.length < projectsAtOnce) break;
    after = projects.at(-1)!.id;
  }
  if (failures.length > 0) throw new AggregateError(failures, failed(failures.length));
}
