/** What people do on pages, from one page to the next, in a real browser: each with JavaScript and without. */
import assert from 'node:assert/strict';
import { sendPasswordLink } from '../../../src/areas/people/sessions/index.ts';
import { writeInvitation } from '../../../src/areas/spaces/invitations/index.ts';
import { password } from '../../support/browser.ts';
import type { Visitor } from '../../support/chromium.ts';
import { gitClient, remoteOf } from '../../support/git.ts';
import { addIssue } from '../../support/issues.ts';
import { journey } from '../../support/journey.ts';
import { linkIn, linksIn, mailOf } from '../../support/mail.ts';
import { addBranch, addMergeRequest, settleMergeRequests } from '../../support/merge_requests.ts';
import { newPublicKey } from '../../support/public_key.ts';
import { fileUrl, onMain } from '../../support/repository.ts';
import { sent } from '../../support/sent.ts';
import type { World } from '../../support/world.ts';

/** Signs in with the form. */
async function fillSignIn(visitor: Visitor, username: string, word: string): Promise<void> {
  await visitor.fill({ 'Username or email address': username, Password: word });
  await visitor.press('Sign in');
}

/** Adds a file to the project. */
const addFile = ({ as, project }: World, name: string, content: string, parameters: object = {}) =>
  sent(as('maintainer').post(fileUrl(project, name), { ...onMain, content, ...parameters }));

/** The part of a page with a text: a comment, or a row of a list. */
const partWith = (visitor: Visitor, selector: string, text: string) =>
  visitor.page.locator(selector).filter({ hasText: text });

/** Creates an access token on the page. @returns its value, which is shown once */
async function createToken(visitor: Visitor, name: string): Promise<string> {
  await visitor.open('/-/user_settings/personal_access_tokens');
  await visitor.fill({ Name: name, 'api: everything in the API and in git': true });
  await visitor.press('Create the token');
  return visitor.page.locator('main code').innerText();
}

journey('from an invitation by mail to a merged change and a closed issue', async ({ here, arrive, enter, at }) => {
  await addFile(here, 'README.md', 'Orchard\n');
  const { iid } = await addIssue(here, { title: 'Beans are missing' });
  const email = `rowan-${here.project.id}@example.org`;
  await sent(here.as('owner').post(`/projects/${here.project.id}/invitations`, { email, access_level: 30 }));
  const [mail] = await mailOf(here.services, [writeInvitation]);
  const rowan = await arrive();
  await rowan.open(linksIn(mail!)[0]!.pathname);
  const account = rowan.page.locator('form', { hasText: 'Create an account' });
  const username = `rowan-${here.project.id}`;
  await rowan.fill({ Username: username, Name: 'Rowan', Password: password }, account);
  await rowan.press('Create an account and accept', account);
  assert.equal(rowan.path, at);

  const client = await gitClient();
  const git = async (...args: string[]) => {
    const { code, stderr } = await client.run(args, { at: args[0] === 'clone' ? '.' : 'work' });
    assert.equal(code, 0, stderr);
    return stderr;
  };
  await git('clone', '-q', remoteOf(here.url, here.project.full_path, await createToken(rowan, 'laptop')), 'work');
  await git('checkout', '-q', '-b', 'beans');
  await client.run(['mv', 'README.md', 'beans.txt'], { at: 'work' });
  await git('commit', '-q', '-m', `Sow beans\n\nCloses #${iid}`);
  const printed = /http:\S*merge_requests\/new\S*/.exec(await git('push', 'origin', 'beans'))?.[0];
  await rowan.open(printed!.slice(here.url.length));
  await rowan.press('Create the merge request');
  await settleMergeRequests(here);

  const reviewer = await enter('maintainer');
  await reviewer.open(rowan.path);
  await reviewer.follow(/^Changes/, reviewer.page.getByRole('navigation', { name: 'Merge request' }));
  await reviewer.sees('README.md → beans.txt');
  await reviewer.follow('Overview');
  await reviewer.fill({ Comment: 'Well sown.' });
  await reviewer.press('Comment');
  await reviewer.press('Approve');
  await reviewer.sees('Approved by maintainer');
  await reviewer.press('Merge');
  await settleMergeRequests(here);
  await rowan.open(rowan.path);
  await rowan.sees('Merged by maintainer');
  await rowan.sees('Well sown.');
  await rowan.follow('Beans are missing');
  await rowan.sees('Closed');
});

journey('signing in and out, and a forgotten password', async ({ here, arrive, enter, at }) => {
  const visitor = await enter('developer');
  await visitor.open('/');
  await visitor.page.locator('summary', { hasText: 'Your menu' }).click();
  await visitor.press('Sign out');
  assert.equal(visitor.path, '/users/sign_in');
  // Chromium says what was asked of it.
  for (const problem of visitor.problems()) assert.match(problem, /Clear-Site-Data header on .* Cleared data types/);
  const { username } = here.people.developer;
  await fillSignIn(visitor, username, 'wrong');
  assert.deepEqual(visitor.refused(), [401]);
  await visitor.sees('The name or the password is wrong.');

  await visitor.follow('Forgotten your password?');
  await visitor.fill({ 'Email address of your account': `${username}@example.com` });
  await visitor.press('Send a link');
  const [mail] = await mailOf(here.services, [sendPasswordLink]);
  const { pathname, search } = linkIn(mail!);
  const other = await arrive();
  await other.open(at);
  assert.equal(other.path, `/users/sign_in?to=${encodeURIComponent(at)}`);
  await visitor.open(pathname + search);
  assert.equal(await visitor.page.getByLabel('Username').inputValue(), username);
  const chosen = { 'New password': 'another word for tests', 'New password again': 'another word for test' };
  await visitor.fill(chosen);
  await visitor.press('Set the password');
  assert.deepEqual(visitor.refused(), [400]);
  await visitor.sees('is not the same as the new password');
  await visitor.fill({ ...chosen, 'New password again': chosen['New password'] });
  await visitor.press('Set the password');
  await fillSignIn(other, username, chosen['New password']);
  assert.equal(other.path, at);
});

journey('a group and a project of their own, with a first push', async ({ here, enter }) => {
  const visitor = await enter('outsider');
  const name = `grove-${here.project.id}`;
  await visitor.open('/groups/new');
  await visitor.fill({ Name: 'Grove', Path: name });
  await visitor.press('Create the group');
  await visitor.follow('New project');
  await visitor.fill({ Name: 'Hazel', 'Who may see it': 'private' });
  await visitor.press('Create the project');
  assert.equal(visitor.path, `/${name}/hazel`);
  await visitor.sees('The repository is empty');
  const client = await gitClient();
  const remote = remoteOf(here.url, `${name}/hazel`, here.people.outsider.token);
  await client.run(['clone', '-q', remote, 'work']);
  await client.run(['commit', '-q', '--allow-empty', '-m', 'Begin'], { at: 'work' });
  const input =
    'commit refs/heads/main\ncommitter A <a@b.c> 1 +0000\ndata 5\nBegin\nM 644 inline README.md\ndata 8\n# Hazel\n\n';
  await client.run(['fast-import', '--quiet', '--force'], { at: 'work', input });
  const { code, stderr } = await client.run(['push', 'origin', 'main'], { at: 'work' });
  assert.equal(code, 0, stderr);
  await visitor.open(visitor.path);
  assert.equal(await visitor.page.locator('.readme h3').innerText(), 'Hazel');
});

journey('an issue is written, discussed and closed', async ({ here, enter, at }) => {
  await sent(here.as('owner').post(`/projects/${here.project.id}/labels`, { name: 'ripe', color: '#aa2211' }));
  const visitor = await enter('developer');
  await visitor.open(`${at}/-/issues`);
  await visitor.follow('New issue');
  await visitor.fill({ Title: 'Pick apples', Description: 'With the **long** ladder.', Labels: 'ripe' });
  await visitor.press('Create the issue');
  await visitor.follow('Edit');
  await visitor.fill({ Title: 'Pick all apples', 'New labels': 'early' });
  await visitor.press('Save');
  for (const text of ['Pick all apples', 'With the long ladder.', 'early', 'ripe']) await visitor.sees(text);
  await visitor.fill({ Comment: 'Which ladder?' });
  await visitor.press('Start a thread');
  await visitor.page.locator('summary', { hasText: 'Reply' }).click();
  await visitor.fill({ Reply: 'The long one' });
  await visitor.press('Reply');
  await visitor.follow(/^Edit/, partWith(visitor, 'article.note', 'The long one'));
  await visitor.fill({ Comment: 'The longest one' }, partWith(visitor, 'article.note', 'The long one'));
  await visitor.press('Save');
  await visitor.sees('The longest one');
  await visitor.press(/^heart|heart$/);
  await visitor.press('Close');
  await visitor.press('Reopen');
  await visitor.press('Close');
  await visitor.follow('Issues');
  await visitor.sees('No issues match.');
  await visitor.follow(/^Closed/);
  await visitor.fill({ Filter: 'label:early' });
  await visitor.press('Filter');
  await visitor.follow('Pick all apples');
});

journey('the properties of an issue are changed where they are read', async ({ here, enter, at }) => {
  await sent(here.as('owner').post(`/projects/${here.project.id}/labels`, { name: 'ripe', color: '#aa2211' }));
  const { iid } = await addIssue(here, { title: 'Pick apples' });
  const visitor = await enter('developer');
  await visitor.open(`${at}/-/issues/${iid}`);
  await visitor.fill({ Comment: 'Half of a thought' });
  await visitor.press('Assign to me');
  const about = visitor.page.getByRole('region', { name: 'About the issue' });
  assert.match(await about.innerText(), /Assignees\s+developer/);
  await visitor.follow(/labels$/, about);
  await visitor.fill({ ripe: true, 'New labels': 'early' }, about);
  await visitor.press('Save labels');
  assert.match(await about.innerText(), /Labels\s+early\s+ripe/);
  await visitor.follow('due date', about);
  await visitor.fill({ 'Due date': '2030-05-01' }, about);
  await visitor.press('Save due date');
  await visitor.sees('1 May 2030');
  await visitor.follow('Change due date');
  await visitor.follow('Cancel');
  await visitor.sees(/added\s+early/);
  assert.equal(await about.getByRole('textbox').count(), 0);
});

journey('a merge request is reviewed line by line, and merged', async ({ here, enter, at, javaScriptEnabled }) => {
  await addFile(here, 'README.md', 'one\ntwo\n');
  await addBranch(here, 'topic');
  const { iid } = await addMergeRequest(here);
  await settleMergeRequests(here);
  const visitor = await enter('maintainer');
  await visitor.open(`${at}/-/merge_requests`);
  await visitor.follow('Sow the beans');
  await visitor.follow('Commits', visitor.page.getByRole('navigation', { name: 'Merge request' }));
  await visitor.follow(/^Changes/);
  if (javaScriptEnabled) await visitor.page.locator('.diff').getByRole('link', { name: '1', exact: true }).click();
  else await visitor.follow('1', visitor.page.locator('.diff'));
  await visitor.fill({ Comment: 'Why so?' });
  await visitor.press('Comment');
  await visitor.sees('topic.txt, line 1');
  await visitor.press('Resolve the thread');
  await visitor.sees('This thread is resolved.');
  await visitor.press(/^Mark as viewed/);
  await visitor.sees('Viewed 1 of 1');
  await visitor.follow('Overview');
  await visitor.press('Approve');
  await visitor.press('Merge');
  await settleMergeRequests(here);
  await visitor.open(`${at}/-/merge_requests/${iid}`);
  await visitor.sees('Merged by maintainer');
});

journey('branches and tags are created and deleted', async ({ here, enter, at }) => {
  await addFile(here, 'README.md', 'one\n');
  const visitor = await enter('maintainer');
  await visitor.open(`${at}/-/branches`);
  await visitor.fill({ Name: 'graft', From: 'main' });
  await visitor.press('Create the branch');
  await visitor.follow('Branches');
  await visitor.follow('Compare graft with main');
  await visitor.sees('Both are the same commit.');
  await visitor.open(`${at}/-/branches`);
  await visitor.page.locator('summary', { hasText: 'Delete graft' }).click();
  await visitor.press('Delete graft');
  assert.ok(!(await visitor.text()).includes('graft'));
  await visitor.follow('Tags');
  await visitor.fill({ Name: 'v1.0', Of: 'main', Message: 'The first' });
  await visitor.press('Create the tag');
  await visitor.open(`${at}/-/tags/v1.0`);
  await visitor.sees('The first');
  await visitor.page.locator('summary', { hasText: 'Delete the tag' }).click();
  await visitor.press('Delete v1.0');
  await visitor.sees('There are no tags here.');
});

journey('a wiki is begun, changed and read as it was', async ({ enter, at }) => {
  const visitor = await enter('maintainer');
  await visitor.open(at);
  await visitor.follow('Wiki');
  await visitor.follow('New page');
  await visitor.fill({ Title: 'Guide/Pruning', Content: 'In *winter*.' });
  await visitor.press('Create the page');
  await visitor.sees('In winter.');
  await visitor.follow('Edit');
  await visitor.fill({ Content: 'In spring.', 'Message of the commit': 'Warmer' });
  await visitor.press('Save');
  await visitor.sees('In spring.');
  await visitor.follow('History');
  await visitor.follow(/^Changes/, partWith(visitor, '.rows > li', 'Warmer'));
  for (const text of ['In *winter*.', 'In spring.']) await visitor.sees(text);
  await visitor.open(`${at}/-/wikis/Guide/Pruning`);
  await visitor.follow('Edit');
  await visitor.press('Delete the page');
  await visitor.sees('The wiki has no pages yet.');
});

journey('what is to do is done, one by one and all at once', async ({ here, enter }) => {
  for (const title of ['Water', 'Weed', 'Wait'])
    await addIssue(here, { title, assignee_ids: [here.people.developer.id] });
  const visitor = await enter('developer');
  await visitor.open('/');
  await visitor.follow('To-do list');
  await visitor.press(/^Done/, partWith(visitor, '.rows > li', 'Weed'));
  assert.ok(!(await visitor.text()).includes('Weed'));
  await visitor.press('Mark all as done');
  await visitor.sees('There is nothing to do.');
  await visitor.follow('Done');
  await visitor.follow('Weed');
  await visitor.sees('owner');
});

journey('a token is created, rotated and revoked, and a key is added', async ({ here, enter }) => {
  const visitor = await enter('developer');
  const first = await createToken(visitor, 'robot');
  const statusOf = async (token: string) =>
    (await fetch(`${here.url}/api/v4/user`, { headers: { 'private-token': token } })).status;
  assert.equal(await statusOf(first), 200);
  await visitor.follow('Back to your access tokens');
  assert.ok(!(await visitor.text()).includes(first), 'the value is shown once');
  await here.db
    .updateTable('web_sessions')
    .set({ confirmed_at: new Date(0) })
    .execute();
  await here.db.updateTable('users').set({ bio: 'Rights are read again' }).execute();
  await visitor.press('Rotate robot');
  assert.deepEqual(visitor.refused(), [401]);
  await visitor.fill({ Password: password });
  await visitor.press('Confirm');
  await visitor.press('Rotate robot');
  const second = await visitor.page.locator('main code').innerText();
  assert.deepEqual([await statusOf(first), await statusOf(second)], [401, 200]);
  await visitor.follow('Back to your access tokens');
  await visitor.press('Revoke robot');
  assert.equal(await statusOf(second), 401);
  await visitor.follow('Tokens that have ended');
  await visitor.sees('robot');
  await visitor.open('/-/user_settings/ssh_keys');
  await visitor.fill({ 'Public key': newPublicKey(), Title: 'Desk' });
  await visitor.press('Add the key');
  await visitor.press('Delete Desk');
  await visitor.sees('You have no SSH keys yet.');
});

journey('a theme is chosen, a session ended, and nothing typed in it is lost', async ({ here, enter, at }) => {
  const { iid } = await addIssue(here, { title: 'Talk' });
  const [visitor, other] = [await enter('developer'), await enter('developer')];
  await visitor.open('/-/profile/preferences');
  const ground = () => visitor.page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const light = await ground();
  await visitor.fill({ Theme: 'dark' });
  await visitor.press('Save preferences');
  assert.notEqual(await ground(), light);

  await other.open(`${at}/-/issues/${iid}`);
  await other.fill({ Comment: 'Half of a "thought" <b>' });
  await visitor.follow('Sessions');
  await visitor.press('End all others');
  await other.press('Comment');
  assert.deepEqual(other.refused(), [401]);
  await other.sees('what you typed is kept');
  await fillSignIn(other, here.people.developer.username, password);
  assert.equal(await other.page.getByLabel('Comment').inputValue(), 'Half of a "thought" <b>');
  await other.press('Comment');
  await other.sees('Half of a "thought"');
});

journey('code is browsed from a folder to a line, its history and a comparison', async ({ here, enter, at }) => {
  await addFile(here, 'src/pick.ts', 'export const pick = 1;\n// gently\n');
  await addFile(here, 'README.md', 'Orchard\n', { commit_message: 'Describe' });
  await addBranch(here, 'topic');
  const visitor = await enter('developer');
  await visitor.open(at);
  await visitor.follow('src');
  await visitor.follow('pick.ts');
  await visitor.page.getByRole('link', { name: '2', exact: true }).click();
  assert.match(visitor.path, /\/-\/blob\/main\/src\/pick\.ts#L2$/);
  await visitor.follow('History', visitor.page.locator('main'));
  await visitor.follow('Change a file');
  await visitor.sees('1 file changed.');
  await visitor.open(`${at}/-/compare`);
  await visitor.fill({ From: 'main', To: 'topic' });
  await visitor.press('Compare');
  await visitor.sees('topic.txt');
});

journey('edit a file in the browser, and propose the change', async ({ here, enter, at, javaScriptEnabled }) => {
  await addFile(here, 'pick.ts', 'const ripe = 1;\n');
  const visitor = await enter('developer');
  await visitor.open(`${at}/-/blob/main/pick.ts`);
  await visitor.follow('Edit');
  const { page } = visitor;
  const changed = 'const ripe = 1;\nlet more = 2;';
  if (javaScriptEnabled) {
    await page.locator('.cm-content').press('Control+End');
    await page.keyboard.type('let more = 2;');
    assert.deepEqual(await page.locator('.cm-line .k').allInnerTexts(), ['const', 'let']);
  } else await visitor.fill({ Content: changed });
  await visitor.fill({ Branch: 'riper' });
  await visitor.press('Commit the change');
  assert.match(visitor.path, /merge_requests\/new\?/);
  await visitor.press('Create the merge request');
  await settleMergeRequests(here);
  await visitor.sees('Update pick.ts');
  const { content } = await sent(here.as('owner').get(fileUrl(here.project, 'pick.ts'), { ref: 'riper' }));
  assert.equal(Buffer.from(content, 'base64').toString(), changed);
});
