/** A world with something on every page, and an address of each. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { writeDependencyExport } from '../../src/areas/code/dependencies/index.ts';
import { recordStatus } from '../../src/areas/geo/geo_nodes/status/actions.ts';
import { statusOfThisSite } from '../../src/areas/geo/geo_nodes/status/site_queries.ts';
import { pages } from '../../src/areas/pages.ts';
import { registerApplication } from '../../src/areas/people/applications/actions.ts';
import { releasePages } from '../../src/areas/web/releases/index.ts';
import { daysFromNow } from '../../src/cron/index.ts';
import { inAddress } from '../../src/foundation/addresses.ts';
import { leaveFiles } from './artifacts.ts';
import { reports, thrown } from './error_tracking.ts';
import { fillWorld } from './full_project.ts';
import { performQueued } from './jobs.ts';
import { newApplication } from './oauth.ts';
import { addPolicyProject, approvalPolicy, pushPolicies } from './policies.ts';
import { newPublicKey } from './public_key.ts';
import { headOf } from './repository.ts';
import { sent } from './sent.ts';
import { fileForm } from './uploads.ts';
import { type World, type WorldOptions, world } from './world.ts';

/** A world with an address of each page. */
export interface ShownWorld extends World {
  /** By the path of the page, e.g. `/:id/-/issues/:issue_iid`. */
  addresses: ReadonlyMap<string, string>;
  /** The values of the parameters in the addresses, except for `id`. */
  values: Readonly<Record<string, string>>;
  /** The values of `id`, by how the path of the page begins. */
  ids: readonly (readonly [start: string, id: string])[];
}

/** An error with an event, and a dependency with a vulnerability that someone has dismissed. */
async function addFindings(here: World): Promise<void> {
  const { db, project, people } = here;
  const { report } = await reports(here);
  await report(thrown('RottenError', 'The apple is rotten', { tags: { orchard: 'north' }, release: '1.0' }));
  const file = { project_id: project.id, path: 'yarn.lock', blob_id: '0'.repeat(40), reader_version: 1, count: 1 };
  const { id: file_id } = await db
    .insertInto('dependency_files')
    .values(file)
    .returning('id')
    .executeTakeFirstOrThrow();
  const found = { name: 'ladder', version: '1.0.0', package_manager: 'yarn', path: file.path, development: false };
  await db
    .insertInto('dependencies')
    .values({ ...found, project_id: project.id, file_id, digest: crypto.randomUUID(), licenses: ['MIT'] })
    .execute();
  const advisory = {
    record_id: `GHSA-${project.id}`,
    cluster: `CVE-2026-${project.id}`,
    name: 'CVE-2026-1',
    severity: 4,
  };
  const texts = {
    aliases: ['CVE-2026-1'],
    summary: 'Steps break',
    details: '# Steps',
    links: ['https://example.com/'],
  };
  await db
    .insertInto('advisories')
    .values({ ...advisory, ...texts, modified_at: new Date().toISOString() })
    .execute();
  const { cluster, name, severity } = advisory;
  const { id: vulnerability_id } = await db
    .insertInto('vulnerabilities')
    .values({ project_id: project.id, cluster, name, severity })
    .returning('id')
    .executeTakeFirstOrThrow();
  const change = { vulnerability_id, user_id: people.owner.id, from_state: 'detected', to_state: 'dismissed' };
  await db
    .insertInto('vulnerability_state_changes')
    .values({ ...change, comment: 'Nobody climbs' })
    .execute();
}

/** Objects of the whole server: a Geo node with its status, and a migration that failed. */
async function addToServer({ as, db, people, services, group }: World): Promise<void> {
  const node = { name: `site of ${group.path}`, url: `https://${group.path}.example.com` };
  const { id } = await sent(as('admin').post('/geo_nodes', node));
  await recordStatus(db, id, await statusOfThisSite(services));
  const of = { user_id: people.admin.id, source_url: 'https://git.example.com', source_version: '18.5.0' };
  const migration = db.insertInto('bulk_imports').values({ ...of, state: 'finished' });
  const { id: bulk_import_id } = await migration.returning('id').executeTakeFirstOrThrow();
  const place = { source_full_path: 'trees', destination_namespace: '', destination_slug: 'trees' };
  const entity = { ...place, bulk_import_id, user_id: people.admin.id, entity_type: 'group', state: 'failed' };
  await db
    .insertInto('bulk_import_entities')
    .values({ ...entity, migrate_projects: true, migrate_memberships: true, has_failures: true })
    .execute();
}

/** Who asks for something, or is invited, and what people have of their own. */
async function addPeople({ as, project, group, people, db }: World): Promise<void> {
  for (const place of [`/projects/${project.id}`, `/groups/${group.id}`])
    await sent(as('owner').post(`${place}/invitations`, { email: 'pip@example.org', access_level: 20 }));
  const asked = { user_id: people.outsider.id };
  await db
    .insertInto('access_requests')
    .values([
      { ...asked, group_id: group.id },
      { ...asked, project_id: project.id },
    ])
    .execute();
  for (const persona of ['owner', 'admin'] as const) {
    await sent(as(persona).post('/user/keys', { title: 'Laptop', key: newPublicKey() }));
    await sent(as(persona).post(`/projects/${project.id}/issues/1/todo`));
  }
  const file = { file_path: 'note.md', content: '# Note\n' };
  await sent(as('owner').post('/snippets', { title: 'Note', visibility: 'private', files: [file] }));
}

/** Something in each list of the settings. */
async function addSettings(here: World): Promise<void> {
  const framework = { name: 'Food safety', description: 'What an inspector asks for' };
  const requirements = [{ name: 'Review', controls: [{ name: 'minimum_approvals_required_2' }] }];
  const made = await sent(
    here.as('owner').post(`/groups/${here.group.id}/compliance_frameworks`, { ...framework, requirements }),
  );
  await sent(here.as('owner').put(`/projects/${here.project.id}/compliance_frameworks`, { framework_ids: [made.id] }));
  const { as, project, group, people, db } = here;
  await db
    .insertInto('nodes')
    .values({
      ...{ name: 'forge-1:3000', host: 'forge-1', process_id: 7, version: 'Coppice 0.1.0', url: here.url },
      ...{ roles: ['requests', 'jobs'], run: randomUUID() },
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const hook = { url: 'https://listener.example/', name: 'Bell' };
  const variable = { key: 'SEASON', value: 'autumn' };
  const token = { name: 'fetcher', scopes: ['read_repository'] };
  const badge = { name: 'docs', link_url: 'https://docs.example/', image_url: 'https://docs.example/a.svg' };
  for (const place of [`/projects/${project.id}`, `/groups/${group.id}`]) {
    await sent(as('owner').post(`${place}/hooks`, hook));
    await sent(as('owner').post(`${place}/variables`, variable));
    await sent(as('owner').post(`${place}/deploy_tokens`, token));
    await sent(as('owner').post(`${place}/badges`, badge));
    await sent(as('owner').post(`${place}/access_tokens`, { ...token, access_level: 20, expires_at: daysFromNow(30) }));
  }
  await sent(as('owner').post(`/projects/${project.id}/deploy_keys`, { title: 'Shed', key: newPublicKey() }));
  await sent(as('admin').post(`/groups/${group.id}/service_accounts`, { name: 'Scarecrow' }));
  await sent(
    as('owner').post(`/groups/${group.id}/member_roles`, { name: 'Picker', base_access_level: 10, read_code: true }),
  );
  await sent(
    as('owner').post(`/groups/${group.id}/saml_group_links`, { saml_group_name: 'pickers', access_level: 20 }),
  );
  const link = { group_id: group.id, provider: 'directory', access_level: 20 };
  await db
    .insertInto('ldap_group_links')
    .values([
      { ...link, cn: 'pickers' },
      { ...link, filter: '(title=picker)' },
    ])
    .execute();
  await sent(as('admin').post('/hooks', hook));
  const { id: application_id } = await newApplication(here);
  for (const owner of [{ user_id: people.owner.id }, { group_id: group.id }])
    await registerApplication(db, owner, { name: 'Map', redirect_uri: 'https://map.example/', scopes: 'openid' });
  await sql`
    insert into oauth_consents (user_id, application_id, scopes) values (${people.owner.id}, ${application_id}, '{openid}')`.execute(
    db,
  );
  const [ofProject, ofGroup] = [
    { runner_type: 'project_type', project_id: project.id, tag_list: 'linux,shed', maintenance_note: 'In the shed' },
    { runner_type: 'group_type', group_id: group.id, description: 'Barn', paused: true },
  ];
  for (const runner of [ofProject, ofGroup]) await sent(as('owner').post('/user/runners', runner));
  await sent(as('admin').post('/user/runners', { runner_type: 'instance_type', description: 'Mill' }));
  await addPolicies(here);
}

/** Policies that are about no branch that there is, and a newer version of them with an error. */
async function addPolicies(here: World): Promise<void> {
  const policies = await addPolicyProject(here);
  const link = `/groups/${here.group.id}/security_policy_project`;
  await sent(here.as('owner').put(link, { project_id: policies.id }));
  const text = approvalPolicy().replace('branch_type: protected', 'branches: [unheard-of]');
  await pushPolicies(here, policies, text);
  await pushPolicies(here, policies, `${text}fruit_policy: []\n`);
}

async function addRepositoryThings({ as, project, group }: World): Promise<void> {
  const url = `/projects/${project.id}/repository`;
  await sent(
    as('maintainer').post(`${url}/tags`, { tag_name: 'harvest/1', ref: 'main', message: 'First\n\nAll of it' }),
  );
  const code = { file_path: 'src/pick.ts', content: 'export const pick = () => 1; // pick\n' };
  const text = {
    file_path: 'docs/pick.md',
    content: '# Pick\n\n[read me](../README.md) #2 ![picture](../README.md)\n',
  };
  const actions = [code, text].map((file) => ({ action: 'create', ...file }));
  await sent(as('maintainer').post(`${url}/commits`, { branch: 'main', commit_message: 'Add *more*', actions }));
  await sent(as('maintainer').post(`/projects/${project.id}/environments`, { name: 'orchard' }));
  await sent(as('maintainer').post(`/projects/${project.id}/statuses/main`, { state: 'success' }));
  const configuration = { action: 'create', file_path: '.gitlab-ci.yml', content: 'build: {script: make}' };
  const built = { branch: 'built', start_branch: 'main', commit_message: 'Build', actions: [configuration] };
  await sent(as('maintainer').post(`/projects/${project.id}/repository/commits`, built));
  await sent(as('maintainer').post(`/projects/${project.id}/pipeline`, { ref: 'built' }));
  const schedule = { description: 'Nightly', ref: 'main', cron: '0 1 * * *' };
  await sent(as('owner').post(`/projects/${project.id}/pipeline_schedules`, schedule));
  for (const place of [`/projects/${project.id}`, `/groups/${group.id}`])
    for (const title of ['home', 'trees/apple'])
      await sent(as('owner').post(`${place}/wikis`, { title, content: `# ${title}\n\n[[home]] #2` }));
}

/** Attaches a file to a wiki. @returns its address below `uploads/` */
async function attachmentOf({ as }: World, place: string): Promise<string> {
  const raw = fileForm('tree.txt', 'a tree');
  const { file_path } = await sent(as('owner').post(`${place}/wikis/attachments`, undefined, { raw }));
  return file_path.replace('uploads/', '');
}

/** The number of a finished export of the dependencies that an administrator has asked for. */
async function exportOf({ as, project, services }: World): Promise<string> {
  const asked = await sent(as('admin').post(`/projects/${project.id}/dependency_list_exports`));
  await performQueued(services, [writeDependencyExport]);
  return String(asked.id);
}

/** The first id of the rows of a world. */
async function idOf({ db }: World, table: string, where: object = {}, column = 'id'): Promise<string> {
  const conditions = Object.entries(where).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
  const { rows } = await sql<{ found: string }>`
    select ${sql.ref(column)} as found from ${sql.table(table)} where ${sql.join([sql`true`, ...conditions], sql` and `)} order by 1 limit 1`.execute(
    db,
  );
  return String(rows[0]!.found);
}

async function idsOf(here: World): Promise<ShownWorld['ids']> {
  const { project, group, people } = here;
  return [
    ['/projects/', String(project.id)],
    ['/groups/', group.full_path],
    ['/-/snippets/', await idOf(here, 'snippets', { author_id: people.owner.id })],
    ['/admin/users/', String(people.guest.id)],
    ['/admin/hooks/', await idOf(here, 'hooks', { repository_update_events: true })],
    ['/admin/geo/', await idOf(here, 'geo_nodes')],
    ['/import/', await idOf(here, 'bulk_imports')],
    ['/', project.full_path],
  ];
}

/** The values of the other parameters. */
async function valuesOf(here: World): Promise<Record<string, string>> {
  const { project, group, people } = here;
  const own = { project_id: project.id };
  return {
    username: people.owner.username,
    ref_path: 'main/docs/pick.md',
    name: 'main/trees.zip',
    commit_id: (await headOf(here))!,
    sha: (await headOf(here))!,
    environment_id: await idOf(here, 'environments', own),
    deployment_id: await idOf(here, 'deployments', { ...own, status: 'blocked' }),
    feature_flag_name: 'press',
    seat_id: String(people.owner.id),
    export_id: await exportOf(here),
    pipeline_schedule_id: await idOf(here, 'pipeline_schedules', own),
    pipeline_id: await idOf(here, 'pipelines', own),
    folder: 'out',
    artifact_path: 'out/apple.txt',
    job_id: await idOf(here, 'commit_statuses', { ...own, kind: 'job' }),
    evidence_id: await idOf(here, 'release_evidences'),
    direct_asset_path: 'manual',
    iid: '1',
    suffix_path: 'downloads/manual',
    refs: 'main...topic',
    tag_name: 'harvest/1',
    issue_iid: '1',
    merge_request_iid: '1',
    slug: 'trees/apple',
    snippet_id: await idOf(here, 'snippets', own),
    ref: 'main',
    file_path: 'pick.sh',
    ref_file: 'main/browse',
    attachment: await attachmentOf(here, `/projects/${project.id}`),
    group_attachment: await attachmentOf(here, `/groups/${group.id}`),
    error_id: await idOf(here, 'error_tracking_errors', own),
    vulnerability_id: await idOf(here, 'vulnerabilities', own),
    export_uuid: crypto.randomUUID(),
    milestone_iid: '1',
    epic_iid: '1',
    iteration_id: await idOf(here, 'iterations', { group_id: group.id }),
    board_id: await idOf(here, 'boards', own),
    group_board_id: await idOf(here, 'boards', { group_id: group.id }),
    label_id: await idOf(here, 'labels', own),
    framework_id: await idOf(here, 'compliance_frameworks', { group_id: group.id }),
    group_label_id: await idOf(here, 'labels', { group_id: group.id }),
    kind: 'projects',
    provider: 'corporate',
    tag: 'freeze-periods',
    hook_id: await idOf(here, 'hooks', own),
    group_hook_id: await idOf(here, 'hooks', { group_id: group.id }),
    user_id: await idOf(here, 'service_accounts', { group_id: group.id }, 'user_id'),
  };
}

/** Addresses whose parameters another page takes differently. */
const special: Readonly<Record<string, Record<string, string>>> = {
  ...Object.fromEntries(releasePages.map(({ path }) => [path, { tag_name: 'v1' }])),
  ...Object.fromEntries(
    ['tree', 'new', 'upload', 'create_dir'].map((name) => [`/:id/-/${name}/*ref_path`, { ref_path: 'main/docs' }]),
  ),
  ...Object.fromEntries(
    ['find_file', 'network', 'graphs'].map((name) => [`/:id/-/${name}/*ref_path`, { ref_path: 'main' }]),
  ),
  '/:id/-/switch/:word/*ref_path': { word: 'blob' },
  '/:id/-/blame_before/:sha/*file_path': { file_path: 'docs/pick.md' },
  '/-/snippets/:id/raw/:ref/*file_path': { file_path: 'note.md' },
  '/:id/-/wikis/raw/*file_path': { file_path: 'home.md' },
  '/groups/:id/-/wikis/raw/*file_path': { file_path: 'home.md' },
};

/** The value of `id` for a page. */
const idIn = ({ ids }: Pick<ShownWorld, 'ids'>, path: string): string =>
  ids.find(([start]) => path.startsWith(start))![1];

/** The values of the parameters of a page, as the paths of endpoints have them. */
export const valuesFor = (named: Pick<ShownWorld, 'ids' | 'values'>, path: string): Record<string, string> => ({
  ...named.values,
  id: idIn(named, path),
  ...(path.startsWith('/groups/') && {
    board_id: named.values.group_board_id!,
    label_id: named.values.group_label_id!,
    attachment: named.values.group_attachment!,
    hook_id: named.values.group_hook_id!,
  }),
});

/** The address of a page, with values for all its parameters. */
function addressOf(path: string, named: Pick<ShownWorld, 'ids' | 'values'>): string {
  const own: Record<string, string> = { ...valuesFor(named, path), ...special[path] };
  return path.replaceAll(/[:*](\w+)/g, (_, name: string) => inAddress(own[name]!));
}

/** A world with something on every page. */
export const shownWorld = async (options?: WorldOptions): Promise<ShownWorld> => showAll(await world(options));

/** Puts something on every page of a world. */
export async function showAll(here: World): Promise<ShownWorld> {
  await fillWorld(here);
  await addRepositoryThings(here);
  await addFindings(here);
  await addPeople(here);
  await addSettings(here);
  await addToServer(here);
  await leaveFiles(here, Number(await idOf(here, 'commit_statuses', { project_id: here.project.id, kind: 'job' })));
  const named = { ids: await idsOf(here), values: await valuesOf(here) };
  return { ...here, ...named, addresses: new Map(pages.map(({ path }) => [path, addressOf(path, named)])) };
}
