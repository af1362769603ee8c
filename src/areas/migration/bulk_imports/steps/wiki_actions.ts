/** The wikis of projects and groups, which are fetched over git because they are not a relation. */
import { currentPlan } from '../../../../access/index.ts';
import { needsPlan, reaches } from '../../../../http/index.ts';
import { fillWiki, planOfGroups } from '../../../code/wikis/index.ts';
import { inStep, record } from '../journal_actions.ts';
import { listedIfShown, pathAtSource } from '../source/queries.ts';
import { ownerOf, type Step, type StepCall, StepFailed } from '../step_definition.ts';
import { fetchFromSource, repositoryAt, skippedRefs } from './git_actions.ts';

async function hasPages({ source, entity }: StepCall): Promise<boolean> {
  for await (const _page of listedIfShown(source, `${pathAtSource(entity)}/wikis`)) return true;
  return false;
}

export const wikiStep: Step = {
  name: 'wiki',
  async run(call) {
    const { db, entity, step } = call;
    if (step.counts.wiki) return 'finished';
    if (!(await hasPages(call))) return 'skipped';
    const { kind, id } = ownerOf(entity);
    if (kind === 'group' && !reaches(await currentPlan(db), planOfGroups))
      throw new StepFailed('NotSupported', `${needsPlan('The wiki of a group', planOfGroups)}.`);
    const place = { project_id: kind === 'project' ? id : null, group_id: kind === 'group' ? id : null };
    const filled = await fillWiki(call, place, (wiki) => fetchFromSource(call, repositoryAt(call, '.wiki'), wiki));
    await inStep(db, step.id, async (tx, row) => {
      await filled.record(tx);
      const counts = { wiki: { fetched: 1, imported: 1 } };
      await record(tx, call, row, { source: 1, counts, failures: skippedRefs('wiki', filled.skipped) });
    });
    return 'finished';
  },
};
