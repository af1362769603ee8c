/** Finds merges whose consequences were never written: events, closed issues, and the removal of the source branch. */

import { abandoned_minutes } from '../areas/code/repository/index.ts';
import { areaServices } from '../areas/index.ts';
import { concludeMerged } from '../areas/work/merge_requests/index.ts';
import { servicesFor } from '../services/index.ts';
import type { CheckOptions, Finding } from './finding.ts';

/** What follows from a merge is a job, which is repeated until it succeeds. */
export async function* checkMerges({ db, config }: CheckOptions): AsyncGenerator<Finding> {
  const rows = await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select(['merge_requests.id', 'iid', 'merged_at', 'projects.full_path'])
    .where('merge_unconcluded', '=', true)
    .orderBy('merge_requests.id')
    .$narrowType<{ merged_at: string }>()
    .execute();
  for (const { id, iid, merged_at, full_path } of rows) {
    const merged = `${full_path}: merge request !${iid} was merged at ${merged_at}, but its issues, source branch and events`;
    if (Date.parse(merged_at) > Date.now() - abandoned_minutes * 60_000)
      yield { sentence: `${merged} are pending; a server deals with them within minutes.`, pending: true };
    else
      yield {
        sentence: `${merged} were never dealt with.`,
        repair: async () => {
          await concludeMerged(servicesFor(config, db, areaServices), id);
          return 'Its issues are closed, its source branch is removed if that was asked for, and its events are recorded.';
        },
      };
  }
}
