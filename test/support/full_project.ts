/** A project with everything that leaves with projects, in a group with everything that leaves with groups. */
import { sql } from 'kysely';
import { addProjectRules } from './full_deployments.ts';
import { fillGroup } from './full_group.ts';
import { addIssues } from './full_issues.ts';
import { addMergeRequests } from './full_merge_requests.ts';
import { addReadme, fileUrl, headOf, onMain } from './repository.ts';
import { sent } from './sent.ts';
import { type World, type WorldOptions, world } from './world.ts';

async function addStatuses(here: World, sha: string): Promise<void> {
  const url = `/projects/${here.project.id}/statuses/${sha}`;
  const build = { name: 'build', target_url: 'https://build.example/1', description: 'Builds' };
  await sent(here.as('developer').post(url, { ...build, state: 'running' }));
  await sent(here.as('developer').post(url, { ...build, state: 'failed', coverage: 87.5 }));
  await sent(here.as('developer').post(url, { ...build, state: 'success', target_url: 'https://build.example/2' }));
  await sent(here.as('maintainer').post(url, { name: 'test', state: 'pending', ref: 'elsewhere' }));
}

async function addCommitNotes({ as, project }: World, parent: string, sha: string): Promise<void> {
  const url = `/projects/${project.id}/repository/commits/${sha}/discussions`;
  const thread = await sent(as('developer').post(url, { body: 'Why two?' }));
  await sent(as('reporter').post(`${url}/${thread.id}/notes`, { body: 'Because of #2.' }));
  const position = { base_sha: parent, start_sha: parent, head_sha: sha };
  await sent(
    as('reporter').post(url, {
      body: 'Here',
      position: { ...position, position_type: 'text', new_path: 'README.md', new_line: 3 },
    }),
  );
}

async function addSnippets({ as, project }: World): Promise<void> {
  const url = `/projects/${project.id}/snippets`;
  const binary = { file_path: 'dot.png', content: Buffer.from([0x89, 0x50, 0, 1]).toString('latin1') };
  const files = [
    { file_path: 'pick.sh', content: 'echo pick\n' },
    { file_path: 'eat/eat.sh', content: 'echo äpfel\n' },
    binary,
  ];
  const snippet = await sent(
    as('developer').post(url, { title: 'Pick', description: 'How *we* pick', visibility: 'private', files }),
  );
  const note = await sent(as('reporter').post(`${url}/${snippet.id}/notes`, { body: 'Works' }));
  await sent(as('developer').post(`${url}/${snippet.id}/award_emoji`, { name: 'rocket' }));
  await sent(as('developer').post(`${url}/${snippet.id}/notes/${note.id}/award_emoji`, { name: 'apple' }));
}

/** Rules that restrict who may do what. */
async function addRules({ as, project, people, db }: World): Promise<void> {
  const url = `/projects/${project.id}`;
  await sent(
    as('maintainer').post(`${url}/protected_branches`, {
      name: 'stable',
      push_access_level: 40,
      merge_access_level: 30,
    }),
  );
  const levels = { allowed_to_push: [{ user_id: people.developer.id }], allowed_to_unprotect: [{ access_level: 40 }] };
  await sent(
    as('maintainer').post(`${url}/protected_branches`, { name: 'release/*', ...levels, allow_force_push: true }),
  );
  await sent(as('maintainer').post(`${url}/protected_tags`, { name: 'v*', create_access_level: 40 }));
  await sent(
    as('maintainer').post(`${url}/push_rule`, { branch_name_regex: '.', prevent_secrets: true, max_file_size: 100 }),
  );
  await sent(
    as('maintainer').post(`${url}/freeze_periods`, {
      freeze_start: '0 23 * * 5',
      freeze_end: '0 7 * * 1',
      cron_timezone: 'Europe/Paris',
    }),
  );
  await sent(
    as('maintainer').post(`${url}/badges`, {
      name: 'Builds',
      link_url: 'https://builds.example/%{project_path}',
      image_url: 'https://builds.example/%{default_branch}.svg',
    }),
  );
  const list = await sent(
    as('developer').post(`${url}/feature_flags_user_lists`, { name: 'Pickers', user_xids: 'rowan,hazel' }),
  );
  const strategies = [
    { name: 'gitlabUserList', parameters: {}, user_list_id: list.id, scopes: [{ environment_scope: 'review/*' }] },
    { name: 'userWithId', parameters: { userIds: 'ash' } },
  ];
  await sent(as('developer').post(`${url}/feature_flags`, { name: 'press', description: 'New', strategies }));
  const { rows } = await sql<{
    id: number;
  }>`select id from protected_branches where project_id = ${project.id} and name = 'stable'`.execute(db);
  const rule = { name: 'Elders', approvals_required: 1, user_ids: [people.maintainer.id, people.owner.id] };
  await sent(as('maintainer').post(`${url}/approval_rules`, { ...rule, protected_branch_ids: [rows[0]!.id] }));
  await sent(
    as('maintainer').post(`${url}/approval_rules`, { name: 'All', rule_type: 'any_approver', approvals_required: 1 }),
  );
}

async function addReleases({ as, project }: World): Promise<void> {
  const links = [
    { name: 'Manual', url: 'https://files.example/manual', direct_asset_path: '/manual', link_type: 'runbook' },
    { name: 'Basket', url: 'https://files.example/basket' },
  ];
  await sent(
    as('maintainer').post(`/projects/${project.id}/releases`, {
      ...{ tag_name: 'v1', ref: 'main', name: 'First', description: 'All that is *ripe*', milestones: ['Autumn'] },
      assets: { links },
    }),
  );
}

async function addBoards(here: World, label_id: number, milestone_id: number): Promise<void> {
  const { as, project, group, people, db } = here;
  const [iteration] = await sent(as('planner').get(`/groups/${group.id}/iterations`, { state: 'current' }));
  const iteration_id: number = iteration.id;
  const scopes = [
    { hide_backlog_list: true, assignee_id: people.developer.id, milestone_id: -2, labels: 'shared', weight: 3 },
    { hide_closed_list: true, assignee_id: -1, iteration_id },
  ];
  for (const place of [`/groups/${group.id}`, `/projects/${project.id}`])
    for (const scope of scopes) {
      const { id } = await sent(as('planner').post(`${place}/boards`, { name: 'Harvest' }));
      const board = `${place}/boards/${id}`;
      await sent(as('planner').put(board, scope));
      await sent(as('planner').post(`${board}/lists`, { assignee_id: people.owner.id, max_issue_count: 5 }));
      await sent(as('planner').post(`${board}/lists`, { iteration_id, max_issue_weight: 7 }));
    }
  const [, last] = await sent(as('planner').get(`/projects/${project.id}/boards`));
  const board = `/projects/${project.id}/boards/${last.id}`;
  await sent(as('planner').put(board, { milestone_id }));
  for (const target of [{ label_id }, { milestone_id }]) await sent(as('planner').post(`${board}/lists`, target));
  // Only other servers have set it.
  await sql`update board_lists set limit_metric = 'issue_count' where board_id = ${last.id}`.execute(db);
}

/** A world whose project and group have everything that leaves. */
export async function fullWorld(options?: WorldOptions): Promise<World> {
  const here = await world(options);
  await fillWorld(here);
  return here;
}

/** Fills the project and the group of a world with everything that leaves. */
export async function fillWorld(here: World): Promise<void> {
  const { as, project } = here;
  await addReadme(here);
  const inGroup = await fillGroup(here);
  const url = `/projects/${project.id}`;
  const ripe = await sent(
    as('owner').post(`${url}/labels`, { name: 'ripe', color: '#112233', description: 'To eat', priority: 2 }),
  );
  await sent(as('owner').post(`${url}/labels`, { name: 'gone', color: '#332211' }));
  const autumn = { title: 'Autumn', description: 'From September', start_date: '2030-09-01', due_date: '2030-10-01' };
  const milestone = await sent(as('owner').post(`${url}/milestones`, autumn));
  await addIssues(here, { ...inGroup, milestone });
  const before = (await headOf(here))!;
  await sent(as('maintainer').put(fileUrl(project, 'README.md'), { ...onMain, content: 'one\ntwo\nthree\n' }));
  const sha = (await headOf(here))!;
  await addStatuses(here, sha);
  await addCommitNotes(here, before, sha);
  await addSnippets(here);
  await addRules(here);
  await addMergeRequests(here, { milestone });
  await addProjectRules(here, inGroup);
  await addReleases(here);
  await addBoards(here, ripe.id, milestone.id);
  await sent(as('owner').delete(`${url}/labels/gone`));
}
