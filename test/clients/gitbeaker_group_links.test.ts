/** The TypeScript client @gitbeaker/rest: links of groups with directories and other providers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { directoryFile } from '../support/sign_in_file.ts';
import { world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

test('groups are linked with groups of a directory and of other providers', async () => {
  const { url, people, group } = await world({ environment: await directoryFile() });
  const { GroupLDAPLinks, GroupSAMLLinks } = new Gitlab({ host: url, token: people.owner.token });
  await GroupLDAPLinks.add(group.id, 30, 'directory', { cn: 'cooks' });
  const link = { cn: 'cooks', group_access: 30, provider: 'directory', filter: null, member_role_id: null };
  assert.deepEqual(await GroupLDAPLinks.all(group.id, {}), [link]);
  await GroupLDAPLinks.sync(group.id);
  await GroupLDAPLinks.remove(group.id, 'directory', { cn: 'cooks' });
  assert.equal((await refusal(GroupLDAPLinks.remove(group.id, 'directory', { cn: 'cooks' }))).status, 404);

  const made = await GroupSAMLLinks.create(group.id, 'the cooks', 40);
  assert.deepEqual([made.name, made.access_level], ['the cooks', 40]);
  assert.deepEqual(await GroupSAMLLinks.show(group.id, 'the cooks', {}), made);
  assert.deepEqual(await GroupSAMLLinks.all(group.id, {}), [made]);
  await GroupSAMLLinks.remove(group.id, 'the cooks');
  assert.deepEqual(await GroupSAMLLinks.all(group.id, {}), []);
});
