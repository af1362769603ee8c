/** Merge requests with everything that merge requests can have. */
import {
  concludeMerges,
  followMergeRequests,
  followThreads,
  mergeReady,
  prepareMergeRequest,
} from '../../src/areas/work/merge_requests/index.ts';
import { performQueued } from './jobs.ts';
import { addBranch, addMergeRequest } from './merge_requests.ts';
import { fileUrl, headOf, onMain } from './repository.ts';
import { sent } from './sent.ts';
import type { World } from './world.ts';

/** Does what follows from new and changed merge requests. */
export const follow = ({ services }: World): Promise<string[]> =>
  performQueued(services, [prepareMergeRequest, followMergeRequests, followThreads, concludeMerges, mergeReady]);

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

async function commit({ as, project }: World, branch: string, actions: object[], further = {}): Promise<void> {
  const change = { branch, commit_message: `Change ${branch}`, actions, ...further };
  await sent(as('developer').post(`/projects/${project.id}/repository/commits`, change));
}

async function review(here: World, url: string): Promise<void> {
  const { as } = here;
  const { diff_refs } = await sent(as('reporter').get(url));
  const at = (place: object) => ({ ...diff_refs, position_type: 'text', new_path: 'beans.txt', ...place });
  const thread = await sent(as('reporter').post(`${url}/discussions`, { body: 'Here', position: at({ new_line: 3 }) }));
  await sent(as('developer').post(`${url}/discussions/${thread.id}/notes`, { body: 'Mended.' }));
  await sent(as('developer').put(`${url}/discussions/${thread.id}`, { resolved: true }));
  const body = 'Better:\n\n```suggestion\nline four\n```\n';
  const suggested = await sent(as('reporter').post(`${url}/discussions`, { body, position: at({ new_line: 4 }) }));
  await sent(as('reporter').post(`${url}/discussions`, { body, position: at({ new_line: 9 }) }));
  await sent(as('developer').put(`/suggestions/${suggested.notes[0].suggestions[0].id}/apply`));
  const plain = await sent(as('reporter').post(`${url}/discussions`, { body: 'And the peas?' }));
  await sent(as('owner').post(`${url}/notes/${plain.notes[0].id}/award_emoji`, { name: 'eyes' }));
  await sent(as('owner').post(`${url}/notes`, { body: 'Between us', internal: true }));
  await sent(as('owner').post(`${url}/award_emoji`, { name: 'rocket' }));
}

/** Adds an open, a merged and a closed merge request to the project of a world. */
export async function addMergeRequests(here: World, { milestone }: { milestone: { id: number } }): Promise<void> {
  const { as, project, people, db } = here;
  const url = `/projects/${project.id}/merge_requests`;
  const file = { file_path: 'beans.txt', content: lines(10) };
  await commit(
    here,
    'topic',
    [
      { action: 'create', ...file },
      { action: 'create', file_path: 'dot.png', content: 'iVBORw0KGgoA', encoding: 'base64' },
    ],
    { start_branch: 'main' },
  );
  const { iid } = await addMergeRequest(here, {
    ...{
      title: 'Draft: Sow the beans',
      description: 'Closes #2\n- [x] dig\n- [ ] sow',
      labels: 'ripe,shared',
      milestone_id: milestone.id,
    },
    ...{
      assignee_ids: [people.developer.id],
      reviewer_ids: [people.maintainer.id, people.owner.id],
      squash: true,
      allow_collaboration: true,
      remove_source_branch: true,
      merge_after: '2030-01-01T00:00:00Z',
    },
  });
  await follow(here);
  await review(here, `${url}/${iid}`);
  await follow(here);
  await commit(here, 'topic', [{ action: 'update', file_path: 'README.md', content: 'one\nand two\n' }]);
  await follow(here);
  await sent(as('maintainer').post(`${url}/${iid}/approve`));
  const rule = { name: 'Gardeners', approvals_required: 2, user_ids: [people.owner.id] };
  await sent(as('maintainer').post(`${url}/${iid}/approval_rules`, rule));
  const [elders] = await sent(as('maintainer').get(`/projects/${project.id}/approval_rules`));
  const stricter = { name: elders.name, approvals_required: 2, approval_project_rule_id: elders.id };
  await sent(as('maintainer').post(`${url}/${iid}/approval_rules`, stricter));
  await sent(as('developer').post(`${url}/${iid}/add_spent_time`, { duration: '2h', summary: 'Digging' }));
  await sent(as('developer').post(`${url}/${iid}/time_estimate`, { duration: '5h' }));
  await sent(
    as('developer').put(`${url}/${iid}`, { remove_labels: 'shared', milestone_id: 0, discussion_locked: true }),
  );

  await addBranch(here, 'merged');
  const merged = await addMergeRequest(here, {
    title: 'Add a file',
    source_branch: 'merged',
    milestone_id: milestone.id,
  });
  await follow(here);
  for (const persona of ['maintainer', 'owner'] as const) await sent(as(persona).post(`${url}/${merged.iid}/approve`));
  await sent(as('maintainer').put(`${url}/${merged.iid}/merge`, { squash: true }));
  await follow(here);

  await sent(
    as('developer').post(fileUrl(project, 'closed.txt'), {
      ...onMain,
      start_branch: 'main',
      branch: 'closed',
      content: 'x\n',
    }),
  );
  const closed = await addMergeRequest(here, { title: 'Add another', source_branch: 'closed' });
  await follow(here);
  await sent(as('developer').put(`${url}/${closed.iid}`, { state_event: 'close' }));
  const main = await headOf(here);
  await sent(as('developer').post(`${url}/${iid}/context_commits`, { commits: [main] }));
  // No client can set it: it tells why a merge failed.
  await db
    .updateTable('merge_requests')
    .set({ merge_error: 'Something went wrong' })
    .where('project_id', '=', project.id)
    .execute();
}
