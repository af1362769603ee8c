/** The days of a developer and of an administrator in a real browser: thirty tasks each, in the order in which they come up. */
import assert from 'node:assert/strict';
import { password } from '../../support/browser.ts';
import type { Visitor } from '../../support/chromium.ts';
import { reports, thrown } from '../../support/error_tracking.ts';
import { addIssue } from '../../support/issues.ts';
import { type Journey, journey } from '../../support/journey.ts';
import { settleMergeRequests } from '../../support/merge_requests.ts';
import { newPublicKey } from '../../support/public_key.ts';
import { fileUrl, onMain } from '../../support/repository.ts';
import { sent } from '../../support/sent.ts';

type Task = [name: string, perform: () => Promise<unknown>];

/** Performs all tasks, and says which of them failed. */
async function perform(visitor: Visitor, tasks: readonly Task[]): Promise<void> {
  assert.equal(tasks.length, 30);
  const failed: string[] = [];
  for (const [name, task] of tasks)
    try {
      visitor.page.setDefaultTimeout(8_000);
      await task();
      for (const problem of [...visitor.problems(), ...visitor.refused()]) failed.push(`${name}: ${problem}`);
    } catch (error) {
      failed.push(`${name}, at ${visitor.path}: ${(error as Error).message.slice(0, 400)}`);
    }
  assert.deepEqual(failed, []);
}

/** Opens what a `summary` hides, unless it is open. */
async function unfold({ page }: Visitor, text: string): Promise<void> {
  const closed = page.locator('details:not([open])', { has: page.locator('summary', { hasText: text }) });
  if ((await closed.count()) > 0) await closed.locator('summary').first().click();
}

/** Adds text to the end of a file. @param before what is in it */
async function typeCode(visitor: Visitor, { javaScriptEnabled }: Journey, text: string, before = ''): Promise<void> {
  const { page } = visitor;
  if (!javaScriptEnabled) return visitor.fill({ Content: before + text });
  await page.locator('.cm-content').press('Control+End');
  await page.keyboard.type(text);
}

async function signIn({ here, arrive }: Journey, persona: 'developer' | 'admin'): Promise<Visitor> {
  const { id, username } = here.people[persona];
  await sent(here.as('admin').put(`/users/${id}`, { password }));
  const visitor = await arrive();
  await visitor.open('/users/sign_in');
  await visitor.fill({ 'Username or email address': username, Password: password });
  await visitor.press('Sign in');
  return visitor;
}

const readme = '# Orchard\n\n- [ ] plant\n- [ ] pick\n';
const program = 'const ripe = 1;\nconst sour = 2;\n';

/** What others have left for the developer. */
async function prepare({ here }: Journey): Promise<number> {
  const { as, project, people } = here;
  const file = (name: string, content: string, more: object = {}) =>
    sent(as('maintainer').post(fileUrl(project, name), { ...onMain, content, ...more }));
  await file('README.md', readme);
  await file('src/pick.ts', program);
  await sent(as('owner').post(`/projects/${project.id}/labels`, { name: 'ripe', color: '#aa2211' }));
  await addIssue(here, { title: 'Water the beans', assignee_ids: [people.developer.id] });
  await file('src/sort.ts', 'let a = 1;\n', { branch: 'sorting', start_branch: 'main' });
  const asked = await sent(
    as('maintainer').post(`/projects/${project.id}/merge_requests`, {
      ...{ title: 'Sort the apples', source_branch: 'sorting', target_branch: 'main' },
      reviewer_ids: [people.developer.id],
    }),
  );
  await settleMergeRequests(here);
  return asked.iid;
}

journey("a developer's day", async (day) => {
  const { here, at, javaScriptEnabled } = day;
  const iid = await prepare(day);
  const { report } = await reports(here);
  await report(thrown('TypeError', 'apples is not iterable'));
  const visitor = await signIn(day, 'developer');
  const { page } = visitor;
  const about = page.getByRole('region', { name: 'About the issue' });
  const review = `${at}/-/merge_requests/${iid}`;
  await perform(visitor, [
    [
      'see what waits',
      async () => {
        await visitor.open('/');
        await visitor.sees('Sort the apples');
        await visitor.sees('Water the beans');
      },
    ],
    [
      'open the changes to review',
      async () => {
        await visitor.follow('Sort the apples');
        await visitor.follow(/^Changes/);
        await visitor.sees('let a = 1;');
      },
    ],
    [
      'comment on a line',
      async () => {
        if (javaScriptEnabled) await page.locator('.diff').getByRole('link', { name: '1', exact: true }).click();
        else await visitor.follow('1', page.locator('.diff'));
        await visitor.fill({ Comment: 'Use a constant.\n\n```suggestion\nconst a = 1;\n```' });
        await visitor.press('Comment');
        await visitor.sees('Use a constant.');
      },
    ],
    [
      'apply a suggestion',
      async () => {
        await visitor.open(review);
        await visitor.press(/^Apply suggestion/);
        await settleMergeRequests(here);
        await visitor.open(`${review}/diffs`);
        await visitor.sees('const a = 1;');
      },
    ],
    [
      'read changes side by side',
      async () => {
        await visitor.follow('Side by side');
        await visitor.sees('const a = 1;');
      },
    ],
    [
      'resolve a thread',
      async () => {
        await visitor.open(review);
        if ((await page.getByRole('button', { name: 'Resolve the thread' }).count()) > 0)
          await visitor.press('Resolve the thread');
        await visitor.sees('This thread is resolved.');
      },
    ],
    [
      'approve',
      async () => {
        await visitor.open(review);
        await visitor.press('Approve');
        await visitor.sees('Approved by developer');
      },
    ],
    [
      'create an issue with a label',
      async () => {
        await visitor.open(`${at}/-/issues`);
        await visitor.follow('New issue');
        await visitor.fill({ Title: 'Pick apples', Description: readme, Labels: 'ripe' });
        await visitor.press('Create the issue');
        await visitor.sees('Pick apples');
      },
    ],
    [
      'take it',
      async () => {
        await visitor.press('Assign to me');
        assert.match(await about.innerText(), /Assignees\s+developer/);
      },
    ],
    [
      'set a due date where it is read',
      async () => {
        await visitor.follow('due date', about);
        await visitor.fill({ 'Due date': '2030-05-01' }, about);
        await visitor.press('Save due date');
        await visitor.sees('1 May 2030');
      },
    ],
    [
      'tick a task',
      async () => {
        const saved = javaScriptEnabled && page.waitForResponse((response) => response.request().method() === 'POST');
        await page.getByRole('checkbox', { name: 'plant' }).check();
        await saved;
        if (!javaScriptEnabled) await visitor.press('Save ticks');
        await page.reload();
        assert.equal(await page.getByRole('checkbox', { name: 'plant' }).isChecked(), true);
      },
    ],
    [
      'preview a comment and send it',
      async () => {
        await visitor.fill({ Comment: 'With **care**' });
        if (javaScriptEnabled) await page.getByRole('button', { name: 'Preview' }).first().click();
        else await visitor.press('Preview');
        await page.locator('strong', { hasText: 'care' }).first().waitFor();
        if (javaScriptEnabled) await page.getByRole('button', { name: /Write/ }).first().click();
        await visitor.press('Comment');
        await visitor.sees('With care');
      },
    ],
    [
      'find issues by label',
      async () => {
        await visitor.open(`${at}/-/issues`);
        await visitor.fill({ Filter: 'label:ripe' });
        await visitor.press('Filter');
        await visitor.sees('Pick apples');
        assert.ok(!(await visitor.text()).includes('Water the beans'));
      },
    ],
    [
      'find a file',
      async () => {
        await visitor.open(`${at}/-/find_file/main?search=pick`);
        await visitor.follow(/src\/pick\.ts/);
        await visitor.sees('const ripe = 1;');
      },
    ],
    [
      'see who wrote a line',
      async () => {
        await visitor.follow('Blame');
        await visitor.sees('maintainer');
      },
    ],
    [
      'see the history of a file',
      async () => {
        await visitor.open(`${at}/-/commits/main/src/pick.ts`);
        await visitor.follow('Change a file');
        await visitor.sees('1 file changed.');
      },
    ],
    [
      'edit a file and propose the change',
      async () => {
        await visitor.open(`${at}/-/blob/main/src/pick.ts`);
        await visitor.follow('Edit');
        await typeCode(visitor, day, 'let more = 3;', program);
        await visitor.fill({ Branch: 'riper' });
        await visitor.press('Commit the change');
        await visitor.press('Create the merge request');
        await settleMergeRequests(here);
        await visitor.sees('Update pick.ts');
      },
    ],
    [
      'add a file on the same branch',
      async () => {
        await visitor.open(`${at}/-/new/riper`);
        await visitor.fill({ Name: 'src/crate.ts' });
        await typeCode(visitor, day, 'let crate = 4;');
        await visitor.press('Commit the file');
        await visitor.sees('crate');
      },
    ],
    [
      'upload a file',
      async () => {
        await visitor.open(`${at}/-/upload/riper`);
        await page
          .getByLabel('Files')
          .setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('apples\n') });
        await visitor.press('Commit the files');
        await visitor.sees('list.txt');
      },
    ],
    [
      'compare branches',
      async () => {
        await visitor.open(`${at}/-/compare`);
        await visitor.fill({ From: 'main', To: 'riper' });
        await visitor.press('Compare');
        await visitor.sees('crate.ts');
      },
    ],
    [
      'create a branch',
      async () => {
        await visitor.open(`${at}/-/branches`);
        await visitor.fill({ Name: 'graft', From: 'main' });
        await visitor.press('Create the branch');
        await visitor.sees('graft');
      },
    ],
    [
      'create a release with its tag',
      async () => {
        await visitor.open(`${at}/-/releases`);
        await visitor.follow('New release');
        await visitor.fill({ Tag: 'v1', 'Made from': 'main', Title: 'First harvest', Notes: '*Ripe* ones' });
        await visitor.press('Create release');
        await visitor.sees('First harvest');
      },
    ],
    [
      'write a page of the wiki',
      async () => {
        await visitor.open(`${at}/-/wikis/home`);
        if (javaScriptEnabled) await page.waitForLoadState();
        await visitor.open(`${at}/-/wikis/pages`);
        await visitor.follow('New page');
        await visitor.fill({ Title: 'Guide', Content: 'In *winter*.' });
        await visitor.press('Create the page');
        await visitor.sees('In winter.');
      },
    ],
    [
      'write a snippet',
      async () => {
        await visitor.open(`${at}/-/snippets`);
        await visitor.follow('New snippet');
        await visitor.fill({ Title: 'Count', 'Name of the file': 'count.ts' });
        await typeCode(visitor, day, 'let n = 0;');
        await visitor.press('Create snippet');
        await visitor.sees('let n = 0;');
      },
    ],
    [
      'search',
      async () => {
        await visitor.open('/search?search=apples&scope=issues');
        await visitor.sees('Pick apples');
      },
    ],
    [
      'open an error and make an issue of it',
      async () => {
        await visitor.open(`${at}/-/error_tracking`);
        await visitor.follow(/TypeError/);
        await visitor.press(/Create issue/);
        await visitor.sees('apples is not iterable');
      },
    ],
    [
      'close an issue',
      async () => {
        await visitor.open(`${at}/-/issues/2`);
        await visitor.press('Close');
        await visitor.sees('Closed');
      },
    ],
    [
      'add an SSH key',
      async () => {
        await visitor.open('/-/user_settings/ssh_keys');
        await visitor.fill({ 'Public key': newPublicKey(), Title: 'Desk' });
        await visitor.press('Add the key');
        await visitor.sees('Desk');
      },
    ],
    [
      'create an access token',
      async () => {
        await visitor.open('/-/user_settings/personal_access_tokens');
        await visitor.fill({ Name: 'laptop', 'api: everything in the API and in git': true });
        await visitor.press('Create the token');
        assert.match(await page.locator('main code').innerText(), /.{20,}/);
      },
    ],
    [
      'sign out',
      async () => {
        await visitor.open('/');
        await unfold(visitor, 'Your menu');
        await visitor.press('Sign out');
        // Chromium says what was asked of it.
        for (const problem of visitor.problems())
          assert.match(problem, /Clear-Site-Data header on .* Cleared data types/);
        assert.equal(visitor.path, '/users/sign_in');
      },
    ],
  ]);
});

journey("an administrator's day", async (day) => {
  const { here, at } = day;
  await prepare(day);
  const visitor = await signIn(day, 'admin');
  const { page } = visitor;
  const mark = here.project.id;
  const groupPath = `grove-${mark}`;
  const rowOf = (text: string) => page.locator('.rows > li, tr', { hasText: text }).first();
  await perform(visitor, [
    [
      'see that all is well',
      async () => {
        await visitor.open('/admin');
        await visitor.sees('Health');
      },
    ],
    [
      'create an account',
      async () => {
        await visitor.open('/admin/users');
        await unfold(visitor, 'New user');
        await visitor.fill({ Name: 'Rowan', Username: `rowan-${mark}`, Address: `rowan-${mark}@example.org` });
        await visitor.press('Create the user');
        await visitor.sees('Rowan');
      },
    ],
    [
      'find it',
      async () => {
        await visitor.open('/admin/users');
        await visitor.fill({ 'Name, username or address': `rowan-${mark}` });
        await visitor.press('Filter');
        await visitor.sees('Rowan');
      },
    ],
    [
      'block it',
      async () => {
        await visitor.press(`Block rowan-${mark}`);
        await visitor.open(`/admin/users?search=rowan-${mark}`);
        await visitor.sees(/blocked/i);
      },
    ],
    [
      'unblock it',
      async () => {
        await visitor.press(`Unblock rowan-${mark}`);
        await visitor.open(`/admin/users?search=rowan-${mark}`);
        assert.equal(await page.getByRole('button', { name: `Block rowan-${mark}` }).count(), 1);
      },
    ],
    [
      'write a note about it',
      async () => {
        await visitor.follow(`@rowan-${mark}`);
        await visitor.fill({ 'Note of administrators': 'Knows pears.' });
        await visitor.press('Save', page.locator('form', { hasText: 'Note of administrators' }));
        assert.equal(await page.getByLabel('Note of administrators').inputValue(), 'Knows pears.');
      },
    ],
    [
      'create a group',
      async () => {
        await visitor.open('/groups/new');
        await visitor.fill({ Name: `Grove ${mark}`, Path: groupPath });
        await visitor.press('Create the group');
        await visitor.sees('Grove');
      },
    ],
    [
      'create a subgroup',
      async () => {
        await visitor.follow('New subgroup');
        await visitor.fill({ Name: 'Nursery', Path: 'nursery' }, page.locator('main'));
        await visitor.press('Create the group');
        await visitor.sees('Nursery');
      },
    ],
    [
      'create a project in it',
      async () => {
        await visitor.follow('New project');
        await visitor.fill({ Name: 'Hazel', 'Begin with a README': true });
        await visitor.press('Create the project');
        assert.equal(visitor.path, `/${groupPath}/nursery/hazel`);
      },
    ],
    [
      'add a member',
      async () => {
        await visitor.open(`/groups/${groupPath}/-/group_members`);
        await unfold(visitor, 'Invite people');
        const form = page.locator('form', { hasText: 'Usernames or addresses' });
        await visitor.fill({ 'Usernames or addresses': `rowan-${mark}`, Role: '30' }, form);
        await visitor.press('Invite', form);
        await visitor.sees('Rowan');
      },
    ],
    [
      'give them another role',
      async () => {
        await visitor.open(`/groups/${groupPath}/-/group_members`);
        await visitor.fill({ Role: '40' }, page.locator('form', { hasText: `Save rowan-${mark}` }));
        await visitor.press(`Save rowan-${mark}`);
        const { access_level } = await sent(
          here.as('admin').get(`/groups/${groupPath}/members?query=rowan-${mark}`),
        ).then(([member]) => member);
        assert.equal(access_level, 40);
      },
    ],
    [
      'remove them',
      async () => {
        await visitor.open(`/groups/${groupPath}/-/group_members`);
        await visitor.press(`Remove rowan-${mark}`);
        assert.equal(await page.getByRole('button', { name: `Remove rowan-${mark}` }).count(), 0);
      },
    ],
    [
      'describe a project',
      async () => {
        await visitor.open(`${at}/-/settings/general`);
        await visitor.fill({ Description: 'An orchard' });
        await visitor.press('Save changes');
        await visitor.open(at);
        await visitor.sees('An orchard');
      },
    ],
    [
      'protect a branch',
      async () => {
        await visitor.open(`${at}/-/settings/protected_branches`);
        await unfold(visitor, 'Protect a branch');
        await visitor.fill({ 'Branch or pattern': 'stable-*' });
        await visitor.press('Protect');
        await visitor.sees('stable-*');
      },
    ],
    [
      'try a push rule',
      async () => {
        await visitor.open(`${at}/-/settings/push_rules`);
        await visitor.fill({ 'Message must match': '^Fix' });
        await visitor.press('Try without saving');
        await visitor.sees(/would be refused/);
      },
    ],
    [
      'save it',
      async () => {
        await visitor.press('Save push rules');
        assert.equal(await page.getByLabel('Message must match').inputValue(), '^Fix');
      },
    ],
    [
      'add a variable',
      async () => {
        await visitor.open(`${at}/-/settings/ci_cd`);
        await unfold(visitor, 'New variable');
        await visitor.fill({ Key: 'REGION', Value: 'north' });
        await visitor.press('Add the variable');
        await visitor.sees('REGION');
      },
    ],
    [
      'add a webhook',
      async () => {
        await visitor.open(`${at}/-/hooks`);
        await unfold(visitor, 'New webhook');
        await visitor.fill({ Address: 'https://hooks.example.com/a', Issues: true });
        await visitor.press('Add the webhook');
        await visitor.sees('hooks.example.com');
      },
    ],
    [
      'add a freeze period',
      async () => {
        await visitor.open(`${at}/-/settings/freeze_periods`);
        await unfold(visitor, 'New freeze period');
        await visitor.fill({ Begins: '0 22 * * 5', Ends: '0 6 * * 1' });
        await visitor.press('Add the period');
        await visitor.sees('0 22 * * 5');
      },
    ],
    [
      'add a deploy key',
      async () => {
        await visitor.open(`${at}/-/settings/deploy_keys`);
        await unfold(visitor, 'New deploy key');
        await visitor.fill({ Title: 'Truck', 'Public key': newPublicKey() });
        await visitor.press('Add the key');
        await visitor.sees('Truck');
      },
    ],
    [
      'require an approval',
      async () => {
        await visitor.open(`${at}/-/settings/merge_requests`);
        await visitor.fill({ 'Only merge when all threads are resolved': true });
        await visitor.press('Save changes');
        assert.equal(await page.getByLabel('Only merge when all threads are resolved').isChecked(), true);
      },
    ],
    [
      'create a milestone',
      async () => {
        await visitor.open(`${at}/-/milestones`);
        await visitor.follow('New milestone');
        await visitor.fill({ Title: 'Autumn', Due: '2030-10-01' });
        await visitor.press('Create milestone');
        await visitor.sees('Autumn');
      },
    ],
    [
      'create a label',
      async () => {
        await visitor.open(`${at}/-/labels`);
        await visitor.fill({ Name: 'sour' });
        await visitor.press('Create label');
        await visitor.sees('sour');
      },
    ],
    [
      'write a message for everyone',
      async () => {
        await visitor.open('/admin/broadcast_messages');
        await unfold(visitor, 'New message');
        await visitor.fill({ Message: 'Harvest at noon' });
        await visitor.press('Add the message');
        await visitor.open('/');
        await visitor.sees('Harvest at noon');
        await visitor.open('/admin/broadcast_messages');
        await visitor.press(/Delete|Remove/, rowOf('Harvest at noon'));
      },
    ],
    [
      'change a default',
      async () => {
        await visitor.open('/admin/application_settings/general');
        await visitor.fill({ 'Days until what is deleted is gone': '8' });
        await visitor.press('Save changes', page.locator('form', { hasText: 'Days until what is deleted is gone' }));
        assert.equal(await page.getByLabel('Days until what is deleted is gone').inputValue(), '8');
        await sent(here.as('admin').put('/application/settings', { deletion_adjourned_period: 7 }));
      },
    ],
    [
      'see what runs in the background',
      async () => {
        await visitor.open('/admin/background_jobs');
        await visitor.sees('What has failed');
      },
    ],
    [
      'see the licence',
      async () => {
        await visitor.open('/admin/license');
        await visitor.sees('ultimate');
      },
    ],
    [
      'move a project to another group',
      async () => {
        await visitor.open(`/${groupPath}/nursery/hazel/-/settings/careful`);
        const form = page.locator('form', { hasText: 'Transfer the project' });
        await form.getByLabel('New place').selectOption({ label: groupPath });
        await visitor.fill({ 'To confirm': `${groupPath}/nursery/hazel` }, form);
        await visitor.press('Transfer the project');
        assert.match(visitor.path, new RegExp(`^/${groupPath}/hazel`));
      },
    ],
    [
      'archive it',
      async () => {
        await visitor.open(`/${groupPath}/hazel/-/settings/careful`);
        await visitor.press('Archive the project');
        await visitor.open(`/${groupPath}/hazel`);
        await visitor.sees(/archived/i);
      },
    ],
    [
      'delete it',
      async () => {
        await visitor.open(`/${groupPath}/hazel/-/settings/careful`);
        const form = page.locator('form', { hasText: 'Delete the project' });
        await visitor.fill({ 'To confirm': `${groupPath}/hazel` }, form);
        await visitor.press('Delete the project');
        const { body: found } = await here.as('admin').get('/projects?search=hazel&include_pending_delete=true');
        assert.ok(found[0].marked_for_deletion_on);
      },
    ],
  ]);
});
