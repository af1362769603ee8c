/**
 * What holds for every operation that changes something: it leaves the audit events that it should (docs/reference/audit_events.md#events), of the caller, or it
 * is listed in audit_exceptions.ts with its reason. What changes nothing, or is refused, leaves none.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import { sql } from 'kysely';
import { endpoints } from '../../src/areas/index.ts';
import { isReading } from '../../src/http/index.ts';
import { auditException } from '../support/audit_exceptions.ts';
import { type Answer, clientOf } from '../support/client.ts';
import { atFileEnd } from '../support/file_end.ts';
import { newGpgKey } from '../support/gpg_key.ts';
import { dayFromNow, licenseText } from '../support/licenses.ts';
import { newPublicKey } from '../support/public_key.ts';
import { filledWorld } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import { directoryFile } from '../support/sign_in_file.ts';
import type { Persona, World, WorldOptions } from '../support/world.ts';

const exercised = new Set<string>();

const folder = await mkdtemp(path.join(tmpdir(), 'coppice-storages-'));
await Promise.all(['default', 'second'].map((name) => mkdir(path.join(folder, name))));
atFileEnd(() => rm(folder, { recursive: true, force: true }));

/** Of the first world, which decides on the server of the file. */
let options: WorldOptions;
before(async () => {
  const storages = { COPPICE_STORAGES: `default=${folder}/default,second=${folder}/second` };
  options = { environment: { ...storages, ...(await directoryFile()) } };
});

const changing = endpoints.filter(({ method }) => !isReading(method));

interface Written {
  id: number;
  event_name: string;
  author_id: number;
  entity: string;
  target: string | null;
}

async function newestId({ db }: World): Promise<number> {
  const { rows } = await sql<{ id: number }>`select coalesce(max(id), 0) as id from audit_events`.execute(db);
  return rows[0]!.id;
}

async function writtenSince({ db }: World, id: number): Promise<Written[]> {
  const { rows } = await sql<Written>`
    select id, event_name, author_id, entity_type || ' ' || entity_path as entity, target_details as target from audit_events where id > ${id} order by id`.execute(
    db,
  );
  return rows;
}

type Call = (persona: Persona) => Promise<Answer>;

/** Runs the stories of a world. What an operation should not have written is told of all of them together, by `settle`. */
function teller(here: World) {
  const { as, people } = here;
  const faults: string[] = [];
  /** @param by the persona who calls, whose events they are */
  const tell = async (operation: string, by: Persona, call: Call, names: string[]): Promise<Answer['body']> => {
    assert.ok(
      changing.some((endpoint) => endpoint.operation === operation),
      `${operation} is no operation`,
    );
    exercised.add(operation);
    const before = await newestId(here);
    const { status, body } = await call(by);
    if (status >= 300) faults.push(`${operation}: ${status} ${JSON.stringify(body)}`);
    const written = await writtenSince(here, before);
    const found = written.map(({ event_name }) => event_name);
    if (found.toSorted().join() !== names.toSorted().join())
      faults.push(`${operation} leaves [${found}] instead of [${names}]`);
    for (const { author_id, event_name, entity, target } of written)
      if (author_id !== people[by].id || !/ ./.test(entity) || target === null)
        faults.push(
          `${event_name} of ${operation} by ${by} is of author ${author_id}, entity ${entity}, target ${target}`,
        );
    return body;
  };
  const ask = (method: 'post' | 'put' | 'patch' | 'delete', path: string, parameters: object): Call => {
    return (persona) => as(persona)[method](path, { ...parameters });
  };
  return {
    post: (operation: string, by: Persona, path: string, parameters: object, ...names: string[]) =>
      tell(operation, by, ask('post', path, parameters), names),
    /** An update, which leaves nothing when it is sent again. */
    async put(operation: string, by: Persona, path: string, parameters: object, ...names: string[]) {
      const body = await tell(operation, by, ask('put', path, parameters), names);
      await tell(operation, by, ask('put', path, parameters), []);
      return body;
    },
    async patch(operation: string, by: Persona, path: string, parameters: object, ...names: string[]) {
      const body = await tell(operation, by, ask('patch', path, parameters), names);
      await tell(operation, by, ask('patch', path, parameters), []);
      return body;
    },
    delete: (operation: string, by: Persona, path: string, parameters: object, ...names: string[]) =>
      tell(operation, by, ask('delete', path, parameters), names),
    tell,
    settle: () => assert.deepEqual(faults, []),
  };
}

const day = dayFromNow(30);
const nameOf = (() => {
  let count = 0;
  return (word: string) => `${word}-${++count}`;
})();

test('accounts', async () => {
  const here = await filledWorld(options);
  const { post, put, delete: remove, settle } = teller(here);
  const account = () => {
    const name = nameOf('account');
    return {
      username: name,
      name,
      email: `${name}@example.org`,
      password: 'of-a-long-enough-kind',
      skip_confirmation: true,
    };
  };
  const { id } = await post('createUser', 'admin', '/users', account(), 'user_created');
  const url = `/users/${id}`;
  await put(
    'updateUser',
    'admin',
    url,
    { name: 'Another', external: true },
    'user_external_status_updated',
    'user_name_updated',
  );
  await put('updateUser', 'admin', url, { admin: true }, 'user_admin_status_updated');
  await post('createUserKey', 'admin', `${url}/keys`, { title: 'k', key: newPublicKey() }, 'add_ssh_key');
  const { id: key } = await post(
    'createOwnKey',
    'guest',
    '/user/keys',
    { title: 'k', key: newPublicKey() },
    'add_ssh_key',
  );
  const theirs = (await here.as('admin').post(`${url}/keys`, { title: 'l', key: newPublicKey() })).body;
  await remove('deleteUserKey', 'admin', `${url}/keys/${theirs.id}`, {}, 'remove_ssh_key');
  await post('createUserGpgKey', 'admin', `${url}/gpg_keys`, { key: newGpgKey() }, 'add_gpg_key');
  const [gpg] = (await here.as('admin').get(`/users/${id}/gpg_keys`)).body;
  await remove('deleteUserGpgKey', 'admin', `${url}/gpg_keys/${gpg.id}`, {}, 'remove_gpg_key');
  const own_gpg = await post('createOwnGpgKey', 'guest', '/user/gpg_keys', { key: newGpgKey() }, 'add_gpg_key');
  await remove('deleteOwnGpgKey', 'guest', `/user/gpg_keys/${own_gpg.id}`, {}, 'remove_gpg_key');
  for (const [operation, by, keys] of [
    ['revokeOwnGpgKey', 'guest', '/user/gpg_keys'],
    ['revokeUserGpgKey', 'admin', `${url}/gpg_keys`],
  ] as const) {
    const key = await here.as(by).post(keys, { key: newGpgKey() });
    await post(operation, by, `${keys}/${key.body.id}/revoke`, {}, 'remove_gpg_key');
  }
  await remove('deleteOwnKey', 'guest', `/user/keys/${key}`, {}, 'remove_ssh_key');
  const email = await post(
    'createUserEmail',
    'admin',
    `${url}/emails`,
    { email: `${nameOf('mail')}@example.org`, skip_confirmation: true },
    'email_created',
  );
  await remove('deleteUserEmail', 'admin', `${url}/emails/${email.id}`, {}, 'email_destroyed');
  const own = await post(
    'createOwnEmail',
    'guest',
    '/user/emails',
    { email: `${nameOf('mail')}@example.org` },
    'email_created',
  );
  await remove('deleteOwnEmail', 'guest', `/user/emails/${own.id}`, {}, 'email_destroyed');
  await put('updateUser', 'admin', url, { provider: 'directory', extern_uid: nameOf('uid') }, 'identity_created');
  await remove('deleteUserIdentity', 'admin', `${url}/identities/directory`, {}, 'identity_destroyed');
  await put('updateUser', 'admin', url, { admin: false }, 'user_admin_status_updated');
  await post('blockUser', 'admin', `${url}/block`, {}, 'user_blocked');
  await post('unblockUser', 'admin', `${url}/unblock`, {}, 'unblock_user');
  await post('banUser', 'admin', `${url}/ban`, {}, 'ban_user');
  await post('unbanUser', 'admin', `${url}/unban`, {}, 'unban_user');
  await sql`update users set last_activity_on = null, created_at = now() - interval '1 year' where id = ${id}`.execute(
    here.db,
  );
  await post('deactivateUser', 'admin', `${url}/deactivate`, {}, 'user_deactivate');
  await post('activateUser', 'admin', `${url}/activate`, {}, 'user_activate');
  for (const [operation, verb, name] of [
    ['approveUser', 'approve', 'user_approved'],
    ['rejectUser', 'reject', 'user_rejected'],
  ] as const) {
    const { id: waiting } = await post('createUser', 'admin', '/users', account(), 'user_created');
    await sql`update users set state = 'blocked_pending_approval' where id = ${waiting}`.execute(here.db);
    await post(operation, 'admin', `/users/${waiting}/${verb}`, {}, name);
  }
  await remove('deleteUser', 'admin', url, { hard_delete: true }, 'user_destroyed');
  settle();
});

test('tokens', async () => {
  const here = await filledWorld(options);
  const { project, group, people } = here;
  const { post, put, patch, delete: remove, tell, settle } = teller(here);
  const token = () => ({ name: nameOf('token'), scopes: ['api'], expires_at: day });
  const guest = people.guest.id;
  const made = await post(
    'createUserPersonalAccessToken',
    'admin',
    `/users/${guest}/personal_access_tokens`,
    token(),
    'personal_access_token_created',
  );
  const rotated = await post(
    'rotatePersonalAccessToken',
    'admin',
    `/personal_access_tokens/${made.id}/rotate`,
    { expires_at: day },
    'personal_access_token_rotated',
  );
  await remove(
    'revokePersonalAccessToken',
    'admin',
    `/personal_access_tokens/${rotated.id}`,
    {},
    'personal_access_token_revoked',
  );
  await post(
    'createOwnPersonalAccessToken',
    'guest',
    '/user/personal_access_tokens',
    { name: 'own', scopes: ['k8s_proxy'] },
    'personal_access_token_created',
  );
  const other = await post(
    'createImpersonationToken',
    'admin',
    `/users/${guest}/impersonation_tokens`,
    token(),
    'personal_access_token_created',
  );
  await remove(
    'revokeImpersonationToken',
    'admin',
    `/users/${guest}/impersonation_tokens/${other.id}`,
    {},
    'personal_access_token_revoked',
  );
  const ownToken = (await here.as('admin').post(`/users/${guest}/personal_access_tokens`, token())).body.token;
  const withIt = clientOf(`${here.url}/api/v4`, ownToken);
  const turned = await tell(
    'rotateOwnToken',
    'guest',
    () => withIt.post('/personal_access_tokens/self/rotate', { expires_at: day }),
    ['personal_access_token_rotated'],
  );
  await tell(
    'revokeOwnToken',
    'guest',
    () => clientOf(`${here.url}/api/v4`, turned.token).delete('/personal_access_tokens/self'),
    ['personal_access_token_revoked'],
  );
  for (const [kind, Kind, url] of [
    ['project', 'Project', `/projects/${project.id}`],
    ['group', 'Group', `/groups/${group.id}`],
  ] as const) {
    const access = await post(
      `create${Kind}AccessToken`,
      'owner',
      `${url}/access_tokens`,
      { ...token(), access_level: 20 },
      `${kind}_access_token_created`,
    );
    const next = await post(
      `rotate${Kind}AccessToken`,
      'owner',
      `${url}/access_tokens/${access.id}/rotate`,
      { expires_at: day },
      `${kind}_access_token_rotated`,
    );
    await remove(
      `revoke${Kind}AccessToken`,
      'owner',
      `${url}/access_tokens/${next.id}`,
      {},
      `${kind}_access_token_deleted`,
    );
    const prefix = kind === 'project' ? 'deploy' : 'group_deploy';
    const deploy = await post(
      `create${Kind}DeployToken`,
      'owner',
      `${url}/deploy_tokens`,
      { name: 'd', scopes: ['read_repository'] },
      `${prefix}_token_created`,
    );
    await remove(
      `delete${Kind}DeployToken`,
      'owner',
      `${url}/deploy_tokens/${deploy.id}`,
      {},
      `${prefix}_token_revoked`,
    );
  }
  const robot = await post('createServiceAccount', 'admin', '/service_accounts', {}, 'user_created');
  await patch('updateServiceAccount', 'admin', `/service_accounts/${robot.id}`, { name: 'after' }, 'user_name_updated');
  const account = await post(
    'createGroupServiceAccount',
    'admin',
    `/groups/${group.id}/service_accounts`,
    {},
    'user_created',
  );
  const url = `/groups/${group.id}/service_accounts/${account.id}`;
  await here.as('admin').patch(url, { name: 'before' });
  await patch('updateGroupServiceAccount', 'admin', url, { name: 'after' }, 'user_name_updated');
  const theirs = await post(
    'createGroupServiceAccountToken',
    'admin',
    `${url}/personal_access_tokens`,
    token(),
    'personal_access_token_created',
  );
  const newer = await post(
    'rotateGroupServiceAccountToken',
    'admin',
    `${url}/personal_access_tokens/${theirs.id}/rotate`,
    { expires_at: day },
    'personal_access_token_rotated',
  );
  await remove(
    'revokeGroupServiceAccountToken',
    'admin',
    `${url}/personal_access_tokens/${newer.id}`,
    {},
    'personal_access_token_revoked',
  );
  await remove('deleteGroupServiceAccount', 'admin', url, { hard_delete: true }, 'user_destroyed');
  const key = await post(
    'createProjectDeployKey',
    'maintainer',
    `/projects/${project.id}/deploy_keys`,
    { title: 'k', key: newPublicKey() },
    'deploy_key_added',
  );
  await put(
    'updateProjectDeployKey',
    'maintainer',
    `/projects/${project.id}/deploy_keys/${key.id}`,
    { can_push: true },
    'deploy_key_updated',
  );
  await remove(
    'deleteProjectDeployKey',
    'maintainer',
    `/projects/${project.id}/deploy_keys/${key.id}`,
    {},
    'deploy_key_removed',
  );
  const app = await post(
    'createApplication',
    'admin',
    '/applications',
    { name: 'a', redirect_uri: 'https://app.example.com', scopes: 'api' },
    'oauth_application_created',
  );
  await post(
    'renewApplicationSecret',
    'admin',
    `/applications/${app.id}/renew-secret`,
    {},
    'oauth_application_secret_renewed',
  );
  await remove('deleteApplication', 'admin', `/applications/${app.id}`, {}, 'oauth_application_destroyed');
  const elsewhere = (await here.as('owner').post('/projects', { name: nameOf('keyed'), namespace_id: group.id })).body;
  const shared = (
    await here.as('owner').post(`/projects/${elsewhere.id}/deploy_keys`, { title: 'k', key: newPublicKey() })
  ).body;
  await post(
    'enableProjectDeployKey',
    'owner',
    `/projects/${project.id}/deploy_keys/${shared.id}/enable`,
    {},
    'deploy_key_added',
  );
  const trigger = await post(
    'createPipelineTrigger',
    'maintainer',
    `/projects/${project.id}/triggers`,
    { description: 't' },
    'ci_trigger_created',
  );
  await put(
    'updatePipelineTrigger',
    'maintainer',
    `/projects/${project.id}/triggers/${trigger.id}`,
    { description: 'u' },
    'ci_trigger_updated',
  );
  await remove(
    'deletePipelineTrigger',
    'maintainer',
    `/projects/${project.id}/triggers/${trigger.id}`,
    {},
    'ci_trigger_deleted',
  );
  settle();
});

test('members', async () => {
  const here = await filledWorld(options);
  const { project, group } = here;
  const { post, put, patch, delete: remove, tell, settle } = teller(here);
  const other = (await here.as('owner').post('/groups', { name: 'beside', path: nameOf('beside') })).body;
  for (const [Kind, url, shared, unshared] of [
    ['Group', `/groups/${group.id}`, 'group_share_with_group_link_created', 'group_share_with_group_link_removed'],
    ['Project', `/projects/${project.id}`, 'project_group_link_created', 'project_group_link_deleted'],
  ] as const) {
    const person = await here.person();
    await post(
      `create${Kind}Members`,
      'owner',
      `${url}/members`,
      { user_id: person.id, access_level: 20 },
      'member_created',
    );
    await put(
      `update${Kind}Member`,
      'owner',
      `${url}/members/${person.id}`,
      { access_level: 30, expires_at: day },
      'member_updated',
      'member_updated',
    );
    await remove(`delete${Kind}Member`, 'owner', `${url}/members/${person.id}`, {}, 'member_destroyed');
    const visible = await here.as('owner').put(url, { visibility: 'public' });
    assert.equal(visible.status, 200, JSON.stringify(visible.body));
    const asked = await person.client.post(`${url}/access_requests`);
    assert.equal(asked.status, 201, JSON.stringify(asked.body));
    const approve = `${url}/access_requests/${person.id}/approve`;
    await tell(`approve${Kind}AccessRequest`, 'owner', (by) => here.as(by).put(approve, { access_level: 20 }), [
      'member_created',
    ]);
    const second = await here.person();
    assert.equal((await second.client.post(`${url}/access_requests`)).status, 201);
    await remove(
      `deny${Kind}AccessRequest`,
      'owner',
      `${url}/access_requests/${second.id}`,
      {},
      'access_request_denied',
    );
    const email = `${nameOf('invited')}@example.org`;
    await post(
      `create${Kind}Invitations`,
      'owner',
      `${url}/invitations`,
      { email, access_level: 20 },
      'invitation_created',
    );
    await put(
      `update${Kind}Invitation`,
      'owner',
      `${url}/invitations/${email}`,
      { access_level: 30 },
      'invitation_updated',
    );
    await remove(`revoke${Kind}Invitation`, 'owner', `${url}/invitations/${email}`, {}, 'invitation_destroyed');
    await post(`share${Kind}`, 'owner', `${url}/share`, { group_id: other.id, group_access: 20 }, shared);
    await remove(`unshare${Kind}`, 'owner', `${url}/share/${other.id}`, {}, unshared);
  }
  const saml = `/groups/${group.id}/saml_group_links`;
  const cooks = { saml_group_name: 'cooks', access_level: 20 };
  await post('createSamlGroupLink', 'owner', saml, cooks, 'saml_group_links_created');
  await remove('deleteSamlGroupLink', 'owner', `${saml}/cooks`, {}, 'saml_group_links_removed');
  const ofDirectory = `/groups/${group.id}/ldap_group_links`;
  const bakers = { provider: 'directory', cn: 'bakers' };
  const grant = { ...bakers, group_access: 20 };
  const [linked, unlinked] = ['ldap_group_links_created', 'ldap_group_links_removed'];
  await post('createLdapGroupLink', 'owner', ofDirectory, grant, linked);
  await remove('deleteLdapGroupLink', 'owner', ofDirectory, bakers, unlinked);
  await sent(here.as('owner').post(ofDirectory, grant));
  await remove('deleteLdapGroupLinksByCn', 'owner', `${ofDirectory}/bakers`, {}, unlinked);
  await sent(here.as('owner').post(ofDirectory, grant));
  await tell('syncLdapGroup', 'owner', (by) => here.as(by).post(`/groups/${group.id}/ldap_sync`), []);
  await remove('deleteLdapGroupLinkByCn', 'owner', `${ofDirectory}/directory/bakers`, {}, unlinked);
  const role = { name: 'auditor', base_access_level: 10, read_code: true };
  const made = await post(
    'createGroupMemberRole',
    'owner',
    `/groups/${group.id}/member_roles`,
    role,
    'member_role_created',
  );
  await patch(
    'updateGroupMemberRole',
    'owner',
    `/groups/${group.id}/member_roles/${made.id}`,
    { name: 'reader' },
    'member_role_updated',
  );
  await remove(
    'deleteGroupMemberRole',
    'owner',
    `/groups/${group.id}/member_roles/${made.id}`,
    {},
    'member_role_deleted',
  );
  const own = await post('createInstanceMemberRole', 'admin', '/member_roles', role, 'member_role_created');
  await patch(
    'updateInstanceMemberRole',
    'admin',
    `/member_roles/${own.id}`,
    { read_vulnerability: true },
    'member_role_updated',
  );
  await remove('deleteInstanceMemberRole', 'admin', `/member_roles/${own.id}`, {}, 'member_role_deleted');
  settle();
});

test('groups and projects', async () => {
  const here = await filledWorld(options);
  const { post, put, patch, delete: remove, tell, settle } = teller(here);
  const name = nameOf('made');
  const group = await post('createGroup', 'owner', '/groups', { name, path: name }, 'group_created');
  const url = `/groups/${group.id}`;
  await put(
    'updateGroup',
    'owner',
    url,
    { description: 'x', visibility: 'public' },
    'group_description_updated',
    'group_visibility_updated',
  );
  await post('archiveGroup', 'owner', `${url}/archive`, {}, 'group_archived');
  await post('unarchiveGroup', 'owner', `${url}/unarchive`, {}, 'group_unarchived');
  const project = await post(
    'createProject',
    'owner',
    '/projects',
    { name: 'p', namespace_id: group.id, initialize_with_readme: true },
    'project_created',
  );
  const its = `/projects/${project.id}`;
  await put(
    'updateProject',
    'owner',
    its,
    { name: 'q', merge_method: 'ff' },
    'project_merge_method_updated',
    'project_name_updated',
  );
  await post('archiveProject', 'owner', `${its}/archive`, {}, 'project_archived');
  await post('unarchiveProject', 'owner', `${its}/unarchive`, {}, 'project_unarchived');
  const fork = await post(
    'forkProject',
    'owner',
    `${its}/fork`,
    { path: nameOf('fork'), name: nameOf('fork') },
    'project_created',
  );
  await here.db.updateTable('projects').set({ import_status: 'finished' }).where('id', '=', fork.id).execute();
  await remove('deleteForkRelation', 'owner', `/projects/${fork.id}/fork`, {}, 'project_fork_relation_updated');
  await post(
    'createForkRelation',
    'admin',
    `/projects/${fork.id}/fork/${project.id}`,
    {},
    'project_fork_relation_updated',
  );
  await post(
    'createUserProject',
    'admin',
    `/projects/user/${here.people.guest.id}`,
    { name: 'of-guest' },
    'project_created',
  );
  await tell('transferProject', 'owner', (by) => here.as(by).put(`${its}/transfer`, { namespace: here.group.id }), [
    'project_namespace_updated',
  ]);
  await post('transferProjectToGroup', 'admin', `${url}/projects/${project.id}`, {}, 'project_namespace_updated');
  const below = await post(
    'createGroup',
    'owner',
    '/groups',
    { name: 'below', path: nameOf('below'), parent_id: group.id },
    'group_created',
  );
  await post(
    'transferGroup',
    'owner',
    `/groups/${below.id}/transfer`,
    { group_id: here.group.id },
    'group_parent_id_updated',
  );
  await remove('deleteProject', 'owner', its, {}, 'project_deletion_marked');
  await post('restoreProject', 'owner', `${its}/restore`, {}, 'project_restored');
  await remove('deleteGroup', 'owner', url, {}, 'group_deletion_marked');
  await post('restoreGroup', 'owner', `${url}/restore`, {}, 'group_restored');
  const scope = `${its}/job_token_scope`;
  await patch(
    'updateJobTokenScope',
    'owner',
    scope,
    { enabled: false },
    'project_ci_inbound_job_token_scope_enabled_updated',
  );
  await post(
    'createJobTokenProject',
    'owner',
    `${scope}/allowlist`,
    { target_project_id: here.project.id },
    'secure_ci_job_token_project_added',
  );
  await remove(
    'deleteJobTokenProject',
    'owner',
    `${scope}/allowlist/${here.project.id}`,
    {},
    'secure_ci_job_token_project_removed',
  );
  await post(
    'createJobTokenGroup',
    'owner',
    `${scope}/groups_allowlist`,
    { target_group_id: here.group.id },
    'secure_ci_job_token_group_added',
  );
  await remove(
    'deleteJobTokenGroup',
    'owner',
    `${scope}/groups_allowlist/${here.group.id}`,
    {},
    'secure_ci_job_token_group_removed',
  );
  settle();
});

test('rules', async () => {
  const here = await filledWorld(options);
  const { project, group, people } = here;
  const { post, put, patch, delete: remove, tell, settle } = teller(here);
  const [ofGroup, ofProject] = [`/groups/${group.id}`, `/projects/${project.id}`];
  await post(
    'createProjectProtectedBranch'.replace('Project', ''),
    'maintainer',
    `${ofProject}/protected_branches`,
    { name: 'a' },
    'protected_branch_created',
  );
  await patch(
    'updateProtectedBranch',
    'maintainer',
    `${ofProject}/protected_branches/a`,
    { allow_force_push: true },
    'protected_branch_updated',
  );
  await tell(
    'updateProtectedBranch',
    'maintainer',
    (by) =>
      here.as(by).patch(`${ofProject}/protected_branches/a`, { allowed_to_push: [{ user_id: people.developer.id }] }),
    ['protected_branch_updated'],
  );
  await remove(
    'deleteProtectedBranch',
    'maintainer',
    `${ofProject}/protected_branches/a`,
    {},
    'protected_branch_removed',
  );
  await post(
    'createGroupProtectedBranch',
    'owner',
    `${ofGroup}/protected_branches`,
    { name: 'a' },
    'protected_branch_created',
  );
  await patch(
    'updateGroupProtectedBranch',
    'owner',
    `${ofGroup}/protected_branches/a`,
    { allow_force_push: true },
    'protected_branch_updated',
  );
  await remove(
    'deleteGroupProtectedBranch',
    'owner',
    `${ofGroup}/protected_branches/a`,
    {},
    'protected_branch_removed',
  );
  await here.as('maintainer').post(`${ofProject}/repository/branches`, { branch: 'b', ref: 'main' });
  await put(
    'protectBranch',
    'maintainer',
    `${ofProject}/repository/branches/b/protect`,
    {},
    'protected_branch_created',
  );
  await put(
    'unprotectBranch',
    'maintainer',
    `${ofProject}/repository/branches/b/unprotect`,
    {},
    'protected_branch_removed',
  );
  await post(
    'createProtectedTag',
    'maintainer',
    `${ofProject}/protected_tags`,
    { name: 'v*' },
    'protected_tag_created',
  );
  await remove('deleteProtectedTag', 'maintainer', `${ofProject}/protected_tags/v*`, {}, 'protected_tag_removed');
  await here.as('maintainer').post(`${ofProject}/environments`, { name: 'production' });
  for (const [of, url] of [
    ['', ofProject],
    ['Group', ofGroup],
  ]) {
    const by = of === '' ? 'maintainer' : 'owner';
    const protection = { name: 'production', deploy_access_levels: [{ access_level: 40 }] };
    await post(
      `create${of}ProtectedEnvironment`,
      by,
      `${url}/protected_environments`,
      protection,
      'environment_protected',
    );
    await tell(
      `update${of}ProtectedEnvironment`,
      by,
      (persona) =>
        here.as(persona).put(`${url}/protected_environments/production`, {
          approval_rules: [{ access_level: 40, required_approvals: 2 }],
        }),
      ['protected_environment_updated'],
    );
    await remove(
      `delete${of}ProtectedEnvironment`,
      by,
      `${url}/protected_environments/production`,
      {},
      'environment_unprotected',
    );
    const kind = of === '' ? 'project' : 'group';
    const Kind = of === '' ? 'Project' : 'Group';
    const rule = { deny_delete_tag: true, max_file_size: 5 };
    await post(`create${Kind}PushRule`, by, `${url}/push_rule`, rule, `${kind}_push_rules_created`);
    await put(
      `update${Kind}PushRule`,
      by,
      `${url}/push_rule`,
      { max_file_size: 6 },
      `${kind}_push_rules_max_file_size_updated`,
    );
    await remove(`delete${Kind}PushRule`, by, `${url}/push_rule`, {}, `${kind}_push_rules_removed`);
    const policies = await sent(
      here.as('owner').post('/projects', { name: nameOf('policies'), namespace_id: here.group.id }),
    );
    const link = `${url}/security_policy_project`;
    const linked = 'security_policy_project_linked';
    await put(`update${Kind}SecurityPolicyProject`, 'owner', link, { project_id: policies.id }, linked);
    await remove(`delete${Kind}SecurityPolicyProject`, 'owner', link, {}, 'security_policy_project_unlinked');
  }
  const given = { name: nameOf('framework'), description: 'Of the group' };
  const frameworks = `/groups/${here.group.id}/compliance_frameworks`;
  const requirements = [{ name: 'Protected', controls: [{ name: 'default_branch_protected' }] }];
  const framework = await post('createComplianceFramework', 'owner', frameworks, given, 'create_compliance_framework');
  await put(
    'updateComplianceFramework',
    'owner',
    `${frameworks}/${framework.id}`,
    { requirements },
    'created_compliance_requirement',
  );
  await put(
    'setProjectComplianceFrameworks',
    'owner',
    `${ofProject}/compliance_frameworks`,
    { framework_ids: [framework.id] },
    'compliance_framework_added',
  );
  await remove(
    'deleteComplianceFramework',
    'owner',
    `${frameworks}/${framework.id}`,
    {},
    'destroy_compliance_framework',
  );
  const period = { freeze_start: '0 1 * * *', freeze_end: '0 2 * * *' };
  const { id } = await post(
    'createFreezePeriod',
    'maintainer',
    `${ofProject}/freeze_periods`,
    period,
    'freeze_period_created',
  );
  await put(
    'updateFreezePeriod',
    'maintainer',
    `${ofProject}/freeze_periods/${id}`,
    { freeze_end: '0 3 * * *' },
    'freeze_period_updated',
  );
  await remove('deleteFreezePeriod', 'maintainer', `${ofProject}/freeze_periods/${id}`, {}, 'freeze_period_deleted');
  const approval = { name: 'security', approvals_required: 1, user_ids: [people.developer.id] };
  const rule = await post(
    'createProjectApprovalRule',
    'maintainer',
    `${ofProject}/approval_rules`,
    approval,
    'approval_rule_created',
  );
  await put(
    'updateProjectApprovalRule',
    'maintainer',
    `${ofProject}/approval_rules/${rule.id}`,
    { approvals_required: 2 },
    'update_approval_rules',
  );
  await remove(
    'deleteProjectApprovalRule',
    'maintainer',
    `${ofProject}/approval_rules/${rule.id}`,
    {},
    'approval_rule_deleted',
  );
  await tell(
    'updateProjectApprovals',
    'maintainer',
    (by) => here.as(by).post(`${ofProject}/approvals`, { reset_approvals_on_push: false }),
    ['project_reset_approvals_on_push_updated'],
  );
  await put(
    'updateProjectApprovalSetting',
    'maintainer',
    `${ofProject}/merge_request_approval_setting`,
    { allow_author_approval: true },
    'project_merge_requests_author_approval_updated',
  );
  await put(
    'updateGroupApprovalSetting',
    'owner',
    `${ofGroup}/merge_request_approval_setting`,
    { allow_author_approval: false },
    'group_approval_settings_updated',
  );
  await put(
    'updateGroupApprovalSetting',
    'owner',
    `${ofGroup}/merge_request_approval_setting`,
    { allow_author_approval: true },
    'group_merge_requests_author_approval_updated',
  );
  settle();
});

test('secrets, addresses and runners', async () => {
  const here = await filledWorld(options);
  const { project, group } = here;
  const { post, put, delete: remove, tell, settle } = teller(here);
  const places = [
    ['Project', 'ci_variable', `/projects/${project.id}/variables`, 'maintainer'],
    ['Group', 'ci_group_variable', `/groups/${group.id}/variables`, 'owner'],
    ['Instance', 'ci_instance_variable', '/admin/ci/variables', 'admin'],
  ] as const;
  for (const [Kind, name, url, by] of places) {
    await post(`create${Kind}Variable`, by, url, { key: 'KEY', value: 'secret-1' }, `${name}_created`);
    await put(
      `update${Kind}Variable`,
      by,
      `${url}/KEY`,
      { value: 'secret-2', raw: true },
      `${name}_updated`,
      `${name}_updated`,
    );
    await remove(`delete${Kind}Variable`, by, `${url}/KEY`, {}, `${name}_deleted`);
  }
  const hooks = [
    ['Project', `/projects/${project.id}/hooks`, 'maintainer'],
    ['Group', `/groups/${group.id}/hooks`, 'owner'],
    ['System', '/hooks', 'admin'],
  ] as const;
  for (const [Kind, url, by] of hooks) {
    const { id } = await post(
      `create${Kind}Hook`,
      by,
      url,
      { url: 'https://hooks.example.com/abc' },
      'webhook_created',
    );
    await put(
      `update${Kind}Hook`,
      by,
      `${url}/${id}`,
      { tag_push_events: true, token: 'hush' },
      'webhook_updated',
      'webhook_updated',
    );
    await put(`set${Kind}HookUrlVariable`, by, `${url}/${id}/url_variables/abc`, { value: 'abc' }, 'webhook_updated');
    await remove(`delete${Kind}HookUrlVariable`, by, `${url}/${id}/url_variables/abc`, {}, 'webhook_updated');
    await put(`set${Kind}HookCustomHeader`, by, `${url}/${id}/custom_headers/X-A`, { value: 'b' }, 'webhook_updated');
    await remove(`delete${Kind}HookCustomHeader`, by, `${url}/${id}/custom_headers/X-A`, {}, 'webhook_updated');
    await remove(`delete${Kind}Hook`, by, `${url}/${id}`, {}, 'webhook_destroyed');
  }
  const streams = [
    ['', '', 'instance', 'admin'],
    ['Group', `/groups/${group.id}`, 'group', 'owner'],
  ] as const;
  for (const [Kind, place, kind, by] of streams) {
    const url = `${place}/audit_event_streaming_destinations`;
    const noun = `${kind}_audit_event_streaming_destination`;
    const given = { destination_url: 'https://audit.example.com/abc' };
    const { id } = await post(`create${Kind}AuditEventStreamingDestination`, by, url, given, `created_${noun}`);
    await put(
      `update${Kind}AuditEventStreamingDestination`,
      by,
      `${url}/${id}`,
      { active: false, custom_headers: [{ key: 'X-A', value: 'b' }] },
      `updated_${noun}`,
      `updated_${noun}`,
    );
    await remove(`delete${Kind}AuditEventStreamingDestination`, by, `${url}/${id}`, {}, `deleted_${noun}`);
  }
  const mirrors = `/projects/${project.id}/remote_mirrors`;
  const mirror = await post(
    'createRemoteMirror',
    'maintainer',
    mirrors,
    { url: 'https://user:word@git.example.com/a.git' },
    'mirror_created',
  );
  await put('updateRemoteMirror', 'maintainer', `${mirrors}/${mirror.id}`, { enabled: true }, 'mirror_updated');
  await remove('deleteRemoteMirror', 'maintainer', `${mirrors}/${mirror.id}`, {}, 'mirror_deleted');
  const pulled = { url: 'https://user:word@git.example.com/b.git', enabled: true };
  await tell('setPullMirror', 'owner', (by) => here.as(by).put(`/projects/${project.id}/mirror/pull`, pulled), [
    'mirror_created',
  ]);
  const flags = `/projects/${project.id}/feature_flags`;
  await post(
    'createFeatureFlag',
    'developer',
    flags,
    { name: 'flag', strategies: [{ name: 'default', parameters: {} }] },
    'feature_flag_created',
  );
  await put('updateFeatureFlag', 'developer', `${flags}/flag`, { active: false }, 'feature_flag_updated');
  await remove('deleteFeatureFlag', 'developer', `${flags}/flag`, {}, 'feature_flag_deleted');
  for (const [by, place] of [
    ['admin', { runner_type: 'instance_type' }],
    ['owner', { runner_type: 'group_type', group_id: group.id }],
    ['maintainer', { runner_type: 'project_type', project_id: project.id }],
  ] as const) {
    const { id } = await post('createRunner', by, '/user/runners', place, 'ci_runner_created');
    await put('updateRunner', by, `/runners/${id}`, { paused: true }, 'ci_runner_updated');
    await post('resetRunnerToken', by, `/runners/${id}/reset_authentication_token`, {}, 'ci_runner_token_reset');
    if (by === 'maintainer') {
      const other = (await here.as('owner').post('/projects', { name: nameOf('other'), namespace_id: group.id })).body;
      await post('assignRunner', 'owner', `/projects/${other.id}/runners`, { runner_id: id }, 'ci_runner_assigned');
      await remove('unassignRunner', 'owner', `/projects/${other.id}/runners/${id}`, {}, 'ci_runner_unassigned');
    }
    await remove('deleteRunner', by, `/runners/${id}`, {}, 'ci_runner_unregistered');
  }
  await post(
    'resetInstanceRegistrationToken',
    'admin',
    '/runners/reset_registration_token',
    {},
    'ci_runner_token_reset',
  );
  await post(
    'resetGroupRegistrationToken',
    'owner',
    `/groups/${group.id}/runners/reset_registration_token`,
    {},
    'ci_runner_token_reset',
  );
  await post(
    'resetProjectRegistrationToken',
    'owner',
    `/projects/${project.id}/runners/reset_registration_token`,
    {},
    'ci_runner_token_reset',
  );
  settle();
});

test('runners that register themselves, secure files, and moves to other storages', async () => {
  const here = await filledWorld(options);
  const { project, group } = here;
  const { post, delete: remove, tell, settle } = teller(here);
  const calls = [
    ['post', '/runners', 'ci_runner_registered'],
    ['post', '/runners/reset_authentication_token', 'ci_runner_token_reset'],
    ['delete', '/runners', 'ci_runner_unregistered'],
  ] as const;
  for (const place of [`/projects/${project.id}`, `/groups/${group.id}`]) {
    let token = (await here.as('admin').get(place)).body.runners_token;
    for (const [method, path, name] of calls) {
      const before = await newestId(here);
      const answer = await here.as('anonymous')[method](path, { token });
      assert.ok(answer.status < 300, `${path} ${JSON.stringify(answer.body)}`);
      token = answer.body?.token;
      const written = await writtenSince(here, before);
      assert.deepEqual(
        written.map(({ event_name, author_id }) => [event_name, author_id]),
        [[name, -1]],
      );
    }
  }
  const files = `/projects/${project.id}/secure_files`;
  const form = new FormData();
  form.set('name', 'release.keystore');
  form.set('file', new Blob(['the key of releases']), 'upload.bin');
  const upload: Call = (by) => here.as(by).post(files, undefined, { raw: form });
  const { id } = await tell('createSecureFile', 'maintainer', upload, ['ci_secure_file_created']);
  await remove('deleteSecureFile', 'maintainer', `${files}/${id}`, {}, 'ci_secure_file_deleted');
  const snippet = await here.as('owner').post(`/projects/${project.id}/snippets`, {
    ...{ title: 'Fruit', visibility: 'private', file_name: 'a.txt', content: 'apples' },
  });
  await here.as('owner').post(`/groups/${group.id}/wikis`, { title: 'Home', content: 'Home' });
  for (const [Kind, place] of [
    ['Project', `/projects/${project.id}`],
    ['Group', `/groups/${group.id}`],
    ['Snippet', `/snippets/${snippet.body.id}`],
  ])
    await post(
      `scheduleStorageMoveOf${Kind}`,
      'admin',
      `${place}/repository_storage_moves`,
      { destination_storage_name: 'second' },
      'storage_move_scheduled',
    );
  for (const kind of ['project', 'group'] as const)
    await post(
      `start${kind === 'project' ? 'Project' : 'Group'}RelationExports`,
      'owner',
      `/${kind}s/${here[kind].id}/export_relations`,
      {},
      'direct_transfer_relations_export_initiated',
    );
  settle();
});

test('the server', async () => {
  const here = await filledWorld(options);
  const { post, put, delete: remove, settle } = teller(here);
  await put(
    'updateApplicationSettings',
    'admin',
    '/application/settings',
    { signup_enabled: false, max_attachment_size: 99 },
    'application_setting_updated',
    'application_setting_updated',
  );
  await put(
    'updatePlanLimits',
    'admin',
    '/application/plan_limits',
    { plan_name: 'default', ci_registered_group_runners: 99 },
    'plan_limits_updated',
  );
  const { id } = await post(
    'createLicense',
    'admin',
    '/license',
    { license: await licenseText(here) },
    'license_created',
  );
  await remove('deleteLicense', 'admin', `/license/${id}`, {}, 'license_deleted');
  const node = await post(
    'createGeoNode',
    'admin',
    '/geo_nodes',
    { name: nameOf('site'), url: 'https://lisbon.example.com' },
    'geo_node_created',
  );
  await put('updateGeoNode', 'admin', `/geo_nodes/${node.id}`, { enabled: false }, 'geo_node_updated');
  await remove('deleteGeoNode', 'admin', `/geo_nodes/${node.id}`, {}, 'geo_node_deleted');
  const cluster = { name: 'one', platform_kubernetes_attributes: { api_url: 'https://kube.example.com', token: 'x' } };
  const added = await post('addInstanceCluster', 'admin', '/admin/clusters/add', cluster, 'cluster_created');
  await put('updateInstanceCluster', 'admin', `/admin/clusters/${added.id}`, { name: 'two' }, 'cluster_updated');
  await remove('deleteInstanceCluster', 'admin', `/admin/clusters/${added.id}`, {}, 'cluster_deleted');
  settle();
});

test('each other operation is listed with the reason why it leaves no event', () => {
  const missing = changing.filter(
    ({ operation, alias_of, tag }) =>
      !exercised.has(operation) && !exercised.has(alias_of ?? '') && auditException(operation, tag.name) === undefined,
  );
  assert.deepEqual(
    missing.map(({ operation, tag }) => `${tag.name}: ${operation}`),
    [],
  );
  const both = [...exercised].filter((operation) => {
    const { tag } = changing.find((endpoint) => endpoint.operation === operation)!;
    return auditException(operation, tag.name, true) !== undefined;
  });
  assert.deepEqual(both, [], 'listed as exceptions, but they leave events');
});
