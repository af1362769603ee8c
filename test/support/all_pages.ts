/** One address of every kind of page, in a world in which each has something to show. */
import { pages } from '../../src/areas/pages.ts';
import { passwordLinkFor } from '../../src/areas/people/sessions/index.ts';
import { writeInvitation } from '../../src/areas/spaces/invitations/index.ts';
import { pageFinder } from '../../src/pages/routes.ts';

import { leaveFiles } from './artifacts.ts';
import { browserOf } from './browser.ts';
import { reports } from './error_tracking.ts';
import { fullWorld } from './full_project.ts';
import { linksIn, mailOf } from './mail.ts';
import { newApplication, queryOf } from './oauth.ts';
import { newPublicKey } from './public_key.ts';
import { headOf } from './repository.ts';
import { sent } from './sent.ts';
import type { World, WorldOptions } from './world.ts';

export interface KindOfPage {
  path: string;
  /** The persona who opens it. */
  by: 'owner' | 'admin' | 'anonymous';
  /** By default 200. */
  status?: number;
}

const readme = `# Orchard

Apples, *pears* and \`plums\`. See [the guide](docs/guide.md).

| kind | ripe in |
|---|---|
| early | August |
| an apple with a name that is very long and does not want to be broken anywhere | October |

- [x] plant
- [ ] pick

> Patience.

\`\`\`ts
const pick = (apples: readonly Apple[]): Basket => apples.filter(({ isRipe }) => isRipe).reduce(put, emptyBasket());
\`\`\`
`;

const program = `/** Picks what is ripe. */
function pick(tree: Tree, basket: Basket = new Basket(20)): number {
  // Worms count as protein.
  return tree.apples.filter(({ ripe }) => ripe > 0.5).map((apple) => basket.put(apple, 'gently')).filter((isIn) => isIn !== false).length;
}
`;

async function addContent({ as, project, group }: World): Promise<void> {
  const actions = [
    { action: 'update', file_path: 'README.md', content: readme },
    { action: 'create', file_path: 'docs/guide.md', content: '# Guide\n\nDig.\n' },
    {
      action: 'create',
      file_path: 'src/a_folder_with_a_long_name/and_a_file_with_a_long_name_too.ts',
      content: program,
    },
  ];
  const change = { branch: 'main', commit_message: 'Describe the orchard\n\nSo that all find it.', actions };
  await sent(as('maintainer').post(`/projects/${project.id}/repository/commits`, change));
  await sent(
    as('maintainer').post(`/projects/${project.id}/repository/tags`, {
      tag_name: 'v1.0',
      ref: 'main',
      message: 'First',
    }),
  );
  for (const wiki of [`/projects/${project.id}`, `/groups/${group.id}`]) {
    await sent(as('developer').post(`${wiki}/wikis`, { title: 'home', content: '# Welcome\n\nTo the *orchard*.' }));
    await sent(as('developer').post(`${wiki}/wikis`, { title: 'Guide/First steps', content: readme }));
  }
}

/** Objects of the owner alone. */
async function addOwn({ as, project, people }: World): Promise<void> {
  await sent(as('owner').post('/user/keys', { title: 'Desk', key: newPublicKey() }));
  const token = { name: 'Robot', description: 'Mows', scopes: ['api', 'read_repository'] };
  await sent(as('admin').post(`/users/${people.owner.id}/personal_access_tokens`, token));
  const body = `@${people.owner.username}, a look at https://example.com/${'a'.repeat(60)}?`;
  await sent(as('developer').post(`/projects/${project.id}/issues/2/notes`, { body }));
}

/** Somebody at another server, whose work is said to be that of the owner. */
async function addProposal({ db, group, people, person }: World): Promise<void> {
  const { id } = await person();
  const source = {
    source_host: 'source.example.com',
    source_user_id: 7,
    source_username: 'rowan',
    source_name: 'Rowan',
  };
  const proposed = { proposed_user_id: people.owner.id, proposed_by_id: people.owner.id };
  await db
    .insertInto('placeholders')
    .values({ user_id: id, group_id: group.id, ...source, ...proposed })
    .execute();
}

/** @returns the paths of the links in an invitation: to accept and to decline it */
async function invitation({ as, services, project }: World): Promise<string[]> {
  const invited = { email: 'invited@example.org', access_level: 30 };
  await sent(as('owner').post(`/projects/${project.id}/invitations`, invited));
  const mails = await mailOf(services, [writeInvitation]);
  return mails
    .filter(({ to }) => to.address === invited.email)
    .flatMap((mail) => linksIn(mail).map((link) => link.pathname));
}

/** The pages whose address needs nothing but a project or a group, and those of administrators, which need nothing. */
function plainPages(listed: readonly string[], { project, group }: World): KindOfPage[] {
  const find = pageFinder(pages);
  const opened = new Set(listed.map((path) => find(path.replace(/[?#].*/, ''))?.page));
  return pages.flatMap((page): KindOfPage[] => {
    const { path } = page;
    const isPlain = /^(\/groups)?\/:id\/-\/[^:*]+$|^\/(-|admin)\/[^:*]+$/.test(path);
    if (!('view' in page) || !isPlain || opened.has(page)) return [];
    const address = path.replace(':id', path.startsWith('/groups/') ? group.full_path : project.full_path);
    return [{ path: address, by: /^\/admin|(service_accounts|placeholders)$/.test(path) ? 'admin' : 'owner' }];
  });
}

/** A world with something on every page, and the addresses of its pages. */
export async function worldOfPages(options: WorldOptions): Promise<{ here: World; kinds: KindOfPage[] }> {
  const here = await fullWorld(options);
  const { as, people, project, group } = here;
  await addContent(here);
  await addOwn(here);
  await addProposal(here);
  const { errors, report } = await reports(here);
  const frames = [{ filename: 'src/a_folder_with_a_long_name/and_a_file_with_a_long_name_too.ts', lineno: 1 }];
  await report({ exception: { values: [{ type: 'RangeError', value: 'no apples left', stacktrace: { frames } }] } });
  const [error] = await sent(as('owner').get(errors));
  const [epic] = await sent(as('owner').get(`/groups/${group.id}/epics`));
  const [iteration] = await sent(as('owner').get(`/groups/${group.id}/iterations`));
  const [snippet] = await sent(as('owner').get(`/projects/${project.id}/snippets`));
  const own = await sent(
    as('owner').post('/snippets', { title: 'Own', file_name: 'own.sh', content: 'ls\n', visibility: 'private' }),
  );
  const environment = await sent(as('owner').post(`/projects/${project.id}/environments`, { name: 'orchard' }));
  const [deployment] = await sent(as('owner').get(`/projects/${project.id}/deployments`, { status: 'blocked' }));
  await sent(as('owner').post(`/projects/${project.id}/remote_mirrors`, { url: 'https://git.example.com/a/copy.git' }));
  const [board] = await sent(as('owner').get(`/projects/${project.id}/boards`));
  const [groupBoard] = await sent(as('owner').get(`/groups/${group.id}/boards`));
  const label = await sent(as('owner').post(`/projects/${project.id}/labels`, { name: 'kept', color: '#2255aa' }));
  const groupLabel = await sent(as('owner').post(`/groups/${group.id}/labels`, { name: 'season::wet', color: '#225' }));
  const status = await sent(as('owner').post(`/projects/${project.id}/statuses/main`, { state: 'success' }));
  const nightly = { description: 'Nightly', ref: 'main', cron: '0 1 * * *' };
  const schedule = await sent(as('owner').post(`/projects/${project.id}/pipeline_schedules`, nightly));
  await sent(
    as('owner').post(`/projects/${project.id}/repository/commits`, {
      ...{ branch: 'built', start_branch: 'main', commit_message: 'Build' },
      actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: 'build: {script: make}' }],
    }),
  );
  const built = await sent(as('owner').post(`/projects/${project.id}/pipeline`, { ref: 'built' }));
  const [job] = (await as('owner').get(`/projects/${project.id}/pipelines/${built.id}/jobs`)).body;
  await leaveFiles(here, job.id);
  const [commit, version] = [(await headOf(here))!, 2];
  const at = `/${project.full_path}/-`;
  const inGroup = `/groups/${group.full_path}`;
  const browser = await browserOf(here, people.owner);
  /** The changes of the last version of a wiki page. */
  const changesIn = async (wiki: string) =>
    wiki + /\/home\/diff\?version_id=\w+/.exec((await browser.get(`${wiki}/home/history`)).html)![0];
  const shown = [
    '/',
    `/${people.owner.username}`,
    '/explore',
    '/docs',
    '/docs?search=freeze',
    '/docs/freeze-periods',
    '/docs/webhooks',
    '/dashboard/issues',
    '/dashboard/merge_requests?scope=all',
    '/dashboard/todos',
    '/search',
    '/search?search=pick&scope=issues',
    '/groups/new',
    '/projects/new',
    '/users/confirm_password',
    '/-/user_settings/password/edit',
    '/-/user_settings/active_sessions',
    '/-/user_settings/identities',
    '/-/user_settings/two_factor',
    '/-/user_settings/ssh_keys',
    '/-/user_settings/personal_access_tokens',
    '/-/user_settings/placeholder_proposals',
    '/-/profile/preferences',
    '/users/sign_out',
    '/-/dismissed_messages',
    `/${project.full_path}`,
    `${at}/tree/main/src`,
    `${at}/blob/main/README.md`,
    `${at}/blob/main/README.md?plain=1`,
    `${at}/blob/main/src/a_folder_with_a_long_name/and_a_file_with_a_long_name_too.ts`,
    `${at}/find_file/main`,
    `${at}/network/main?all=true`,
    `${at}/graphs/main`,
    `${at}/forks`,
    `${at}/forks/new`,
    `${at}/starrers`,
    `${at}/activity`,
    `${at}/blame/main/README.md`,
    `${at}/edit/main/README.md`,
    `${at}/delete/main/README.md`,
    `${at}/new/main/src`,
    `${at}/upload/main`,
    `${at}/create_dir/main`,
    `${at}/commits`,
    `${at}/commits/main/README.md`,
    `${at}/commit/${commit}`,
    `${at}/commit/${commit}?at=1..1#at-line`,
    `${at}/commit/${commit}/cherry_pick`,
    `${at}/commit/${commit}/revert`,
    `${at}/compare`,
    `${at}/compare/main...topic`,
    `${at}/branches`,
    `${at}/tags`,
    `${at}/tags/v1.0`,
    `${at}/issues?state=all`,
    `${at}/issues/new`,
    `${at}/uploads/new`,
    `${at}/suggestions?mark=@`,
    `${inGroup}/-/uploads/new`,
    `${inGroup}/-/suggestions?mark=~`,
    `${at}/issues/1`,
    `${at}/issues/2`,
    `${at}/issues/2?change=labels`,
    `${at}/issues/2?change=time`,
    `${at}/issues/2/edit`,
    `${at}/issues/2/move`,
    `${at}/issues/2/delete`,
    ...[at, `${inGroup}/-`].flatMap((place) => [
      `${place}/labels`,
      `${place}/milestones`,
      `${place}/milestones/new`,
      `${place}/milestones/1`,
      `${place}/milestones/1/edit`,
    ]),
    `${at}/labels/${label.id}/edit`,
    `${inGroup}/-/labels/${groupLabel.id}/edit`,
    `${inGroup}/-/issues`,
    `${inGroup}/-/merge_requests`,
    `${at}/boards`,
    `${at}/boards/${board.id}`,
    `${at}/boards/${board.id}/edit`,
    `${inGroup}/-/boards`,
    `${inGroup}/-/boards/${groupBoard.id}`,
    `${inGroup}/-/boards/${groupBoard.id}/edit`,
    `${at}/merge_requests?state=all`,
    `${at}/merge_requests/new?merge_request[source_branch]=topic`,
    `${at}/merge_requests/1`,
    `${at}/merge_requests/1/edit`,
    `${at}/merge_requests/1/delete`,
    `${at}/merge_requests/1/commits`,
    `${at}/merge_requests/1/conflicts`,
    `${at}/merge_requests/1/pipelines`,
    `${at}/merge_requests/1/approval_rules`,
    `${at}/merge_requests/1/related`,
    `${at}/merge_requests/1/diffs?at=${version}..1#at-line`,
    `${at}/merge_requests/2`,
    `${at}/wikis/home`,
    `${at}/wikis/pages`,
    `${at}/wikis/new`,
    `${at}/wikis/Missing`,
    `${at}/wikis/home/history`,
    await changesIn(`${at}/wikis`),
    `${at}/wikis/home/edit`,
    `${inGroup}/-/wikis/pages`,
    `${inGroup}/-/wikis/new`,
    `${inGroup}/-/wikis/Guide/First-steps`,
    `${inGroup}/-/wikis/home/edit`,
    `${inGroup}/-/wikis/home/history`,
    await changesIn(`${inGroup}/-/wikis`),
    inGroup,
    `${inGroup}/-/epics`,
    `${inGroup}/-/epics/new`,
    `${inGroup}/-/epics/${epic.iid}`,
    `${inGroup}/-/epics/${epic.iid}/edit`,
    `${inGroup}/-/epics/${epic.iid}/delete`,
    `${inGroup}/-/iterations`,
    `${inGroup}/-/iterations/${iteration.id}`,
    `${inGroup}/-/group_members`,
    `${at}/snippets`,
    `${at}/snippets/${snippet.id}`,
    `/-/snippets/${own.id}`,
    `${at}/error_tracking`,
    `${at}/error_tracking/${error.id}/details`,
    `/${people.owner.username}?tab=followers`,
    `${at}/snippets/new?files=2`,
    `${at}/snippets/${snippet.id}/edit`,
    `/-/snippets/new`,
    `/-/snippets/${own.id}/edit`,
    '/dashboard/snippets?scope=all',
    `${at}/settings/freeze_periods?try=1&freeze_start=0+18+*+*+5&freeze_end=0+8+*+*+1`,
    `${inGroup}/-/dependencies`,
    `${inGroup}/-/settings/seats/${people.owner.id}`,
    `${at}/security/vulnerabilities`,
    `${at}/dependencies`,
    `${at}/project_members`,
    `${at}/releases`,
    `${at}/releases/v1`,
    `${at}/releases/v1/edit`,
    `${inGroup}/-/releases`,
    `${at}/environments`,
    `${at}/pipelines`,
    `${at}/pipeline_schedules`,
    `${at}/pipeline_schedules/${schedule.id}/edit`,
    `${at}/pipelines/${status.pipeline_id}`,
    `${at}/jobs/${status.id}`,
    `${at}/pipelines/${built.id}/test_report`,
    `${at}/jobs/${job.id}`,
    `${at}/jobs/${job.id}/artifacts/browse`,
    `${at}/jobs/${job.id}/artifacts/browse/out`,
    `${at}/feature_flags`,
    `${at}/feature_flags_user_lists/1`,
    `${at}/feature_flags/press/edit?strategy=flexibleRollout`,
    `${at}/environments/${environment.id}`,
    `${at}/environments/${environment.id}/edit`,
    `${at}/ci/lint`,
    `${at}/deployments/${deployment.id}`,
    `${at}/settings/repository`,
  ];
  const hooks = await Promise.all(
    [`/projects/${project.id}`, `/groups/${group.id}`].map(async (place, index) => {
      const hook = await sent(as('owner').post(`${place}/hooks`, { url: 'https://hooks.example.com/' }));
      return `${index === 0 ? at : `${inGroup}/-`}/hooks/${hook.id}`;
    }),
  );
  const systemHook = await sent(as('admin').post('/hooks', { url: 'https://hooks.example.com/' }));
  const account = await sent(as('admin').post(`/groups/${group.id}/service_accounts`, { name: 'Robot' }));
  const link = await passwordLinkFor(here.services, here.db, people.developer.id);
  const [framework] = await sent(as('owner').get(`/groups/${group.id}/compliance_frameworks`));
  const forAll = [
    '/users/sign_in',
    '/users/sign_in/two_factor',
    '/users/sign_up',
    '/users/password/new',
    '/users/password/new?sent=1',
    link,
    '/',
    ...(await invitation(here)),
  ];
  return {
    here,
    kinds: [
      ...shown.map((path): KindOfPage => ({ path, by: 'owner' })),
      ...forAll.map((path): KindOfPage => ({ path, by: 'anonymous' })),
      ...plainPages(shown, here),
      { path: `/oauth/authorize?${queryOf(await newApplication(here))}`, by: 'owner' },
      { path: '/oauth/authorize', by: 'owner', status: 400 },
      { path: '/oauth/device', by: 'owner' },
      ...hooks.map((path): KindOfPage => ({ path, by: 'owner' })),
      { path: '/admin', by: 'admin' },
      { path: `/admin/users/${people.owner.id}`, by: 'admin' },
      { path: `/admin/hooks/${systemHook.id}`, by: 'admin' },
      { path: `${inGroup}/-/settings/service_accounts/${account.id}`, by: 'admin' },
      { path: `${inGroup}/-/settings/compliance_frameworks/${framework.id}`, by: 'owner' },
      { path: `${at}/nowhere`, by: 'owner', status: 404 },
      { path: `${at}/issues?state=neither`, by: 'owner', status: 400 },
    ],
  };
}
