import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { anonymousBrowser, type Browser, browserOf, fieldsIn } from '../support/browser.ts';
import { addIssue } from '../support/issues.ts';
import { type World, world } from '../support/world.ts';

const hostile = '"><script>alert(1)</script>{{7*7}}';
/** The same as the text of a page. */
const shown = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}';

let statements = 0;
const query = pg.Client.prototype.query;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  statements += 1;
  return Reflect.apply(query, this, args);
} as typeof query;

let known: Promise<{ here: World; browser: Browser; base: string }> | undefined;
/** One world for all tests of the file, in which a developer has signed in. */
const visit = () =>
  (known ??= (async () => {
    const here = await world();
    return { here, browser: await browserOf(here, here.people.developer), base: `/${here.project.full_path}/-/issues` };
  })());

test('a list shows issues by state and filter, with counts', async () => {
  const { here, browser, base } = await visit();
  await addIssue(here, { title: `Prune ${hostile}`, labels: 'pruning', confidential: true });
  const { iid } = await addIssue(here, { title: 'Water the roots' });
  await here.as('owner').put(`/projects/${here.project.id}/issues/${iid}`, { state_event: 'close' });

  const { status, html } = await browser.get(base);
  assert.equal(status, 200);
  assert.ok(html.includes(`Prune ${shown}`) && !html.includes('<script>alert'));
  assert.doesNotMatch(html, /Water the roots/);
  assert.match(html, /Closed <span class="soft">1<\/span>/);
  assert.match((await browser.get(`${base}?state=closed`)).html, /Water the roots/);
  const filtered = (await browser.get(`${base}?state=all&labels=pruning&author_username=${here.people.owner.username}`))
    .html;
  assert.ok(filtered.includes('Prune') && !filtered.includes('Water the roots'));
  assert.match(filtered, /name="labels" value="pruning"/);
  assert.doesNotMatch((await browser.get(`${base}?state=all&search=nothing`)).html, /class="title"/);
  assert.equal((await browser.get(`${base}?state=neither`)).status, 400);
});

test('an issue is created with what the address says, and a refused form keeps what was typed', async () => {
  const { browser, base } = await visit();
  const { html } = await browser.get(
    `${base}/new?issue[title]=Graft&issue[description]=${encodeURIComponent(hostile)}`,
  );
  const fields = fieldsIn(html, 'create');
  assert.deepEqual([fields.title, fields.description], [['Graft'], [hostile]]);

  const refused = await browser.send(`${base}/new`, 'create', { ...fields, title: '' });
  assert.equal(refused.status, 400);
  assert.match(refused.html, /id="create-title-reason">Title can&#39;t be blank</);
  assert.deepEqual(fieldsIn(refused.html, 'create').description, [hostile]);

  const created = await browser.send(`${base}/new`, 'create', { ...fields, add_labels: 'fruit, tree' });
  assert.equal(created.status, 303);
  const issue = (await browser.get(created.to!)).html;
  assert.match(issue, /<h1>Graft/);
  for (const label of ['fruit', 'tree']) assert.match(issue, new RegExp(`class="label">.*${label}<`));
  assert.doesNotMatch(issue, /<script>alert/);
});

test('each property is changed by itself, beside what it shows, and leaves the others as they are', async () => {
  const { here, browser, base } = await visit();
  const { people, project, as } = here;
  const { iid } = await addIssue(here, { title: 'Thin out', labels: 'ripe,sour', weight: 2 });
  const page = `${base}/${iid}`;
  const plain = (await browser.get(page)).html;
  assert.ok(!plain.includes('id="change"') && plain.includes('aria-label="Change labels"'));
  const asked = (await browser.get(`${page}?change=labels`)).html;
  const fields = fieldsIn(asked, 'change');
  assert.deepEqual([fields['labels[]'], fields['clear[]']], [['ripe', 'sour'], ['labels']]);

  const change = (name: string, values: Record<string, string | string[]>) =>
    browser.send(`${page}?change=${name}`, 'change', values);
  assert.equal((await change('labels', { 'labels[]': ['sour'], add_labels: 'late', 'clear[]': 'labels' })).to, page);
  await change('assignees', { 'assignee_ids[]': [String(people.developer.id)], 'clear[]': 'assignee_ids' });
  await change('due_date', { due_date: '2030-05-01', 'clear[]': 'due_date' });
  const { body } = await as('owner').get(`/projects/${project.id}/issues/${iid}`);
  assert.deepEqual(
    [body.labels, body.assignees.map(({ id }: { id: number }) => id), body.due_date, body.weight],
    [['late', 'sour'], [people.developer.id], '2030-05-01', 2],
  );
  await change('labels', { 'clear[]': 'labels' });
  assert.deepEqual((await as('owner').get(`/projects/${project.id}/issues/${iid}`)).body.labels, []);

  const refused = await change('weight', { weight: '-1', 'clear[]': 'weight' });
  assert.equal(refused.status, 400);
  assert.match(refused.html, /id="change-weight-reason">/);
  // Those who may not change it have no pencils.
  const guest = await browserOf(here, people.guest);
  assert.doesNotMatch((await guest.get(`${page}?change=labels`)).html, /aria-label="Change|id="change"/);
});

test('all fields are changed in one form, and cleared in it', async () => {
  const { here, browser, base } = await visit();
  const { people, project, as } = here;
  const { iid, id } = await addIssue(here, {
    title: 'Pick',
    labels: 'ripe',
    weight: 2,
    due_date: '2030-05-01',
    assignee_ids: [people.developer.id],
  });
  const page = `${base}/${iid}`;
  const fields = fieldsIn((await browser.get(`${page}/edit`)).html, 'change');
  assert.deepEqual(fields['labels[]'], ['ripe']);
  assert.deepEqual(fields['assignee_ids[]'], [String(people.developer.id)]);

  const unchanged = await browser.send(`${page}/edit`, 'change', fields);
  assert.deepEqual([unchanged.status, unchanged.to], [303, page]);
  const { body } = await as('owner').get(`/projects/${project.id}/issues/${iid}`);
  assert.deepEqual([body.id, body.labels, body.weight, body.due_date], [id, ['ripe'], 2, '2030-05-01']);

  const emptied = { ...fields, 'labels[]': [], 'assignee_ids[]': [], weight: '', due_date: '', title: 'Picked' };
  assert.equal((await browser.send(`${page}/edit`, 'change', emptied)).status, 303);
  const after = (await as('owner').get(`/projects/${project.id}/issues/${iid}`)).body;
  assert.deepEqual(
    [after.title, after.labels, after.weight, after.due_date, after.assignees],
    ['Picked', [], null, null, []],
  );
  const now = fieldsIn((await browser.get(`${page}/edit`)).html, 'change');
  assert.equal((await browser.send(`${page}/edit`, 'change', { ...now, title: '' })).status, 400);
});

test('who edits what someone else has changed meanwhile sees both texts', async () => {
  const { here, browser, base } = await visit();
  const { iid } = await addIssue(here, { title: 'Mow', description: 'On Monday' });
  const page = `${base}/${iid}/edit`;
  const fields = { ...fieldsIn((await browser.get(page)).html, 'change'), description: 'On Friday' };
  const path = `/projects/${here.project.id}/issues/${iid}`;
  assert.equal((await here.as('owner').put(path, { description: 'On Tuesday' })).status, 200);
  const refused = await browser.send(page, 'change', fields);
  assert.equal(refused.status, 409);
  assert.match(refused.html, /role="alert">Somebody has changed this since you began/);
  assert.match(refused.html, /<pre>On Tuesday<\/pre>/);
  assert.equal((await here.as('owner').get(path)).body.description, 'On Tuesday');
  const again = fieldsIn(refused.html, 'change');
  assert.deepEqual(again.description, ['On Friday']);
  assert.equal((await browser.send(page, 'change', again)).status, 303);
  assert.equal((await here.as('owner').get(path)).body.description, 'On Friday');
});

test('tasks are ticked in a description and an own comment, unless the text has changed meanwhile', async () => {
  const { here, browser, base } = await visit();
  const { iid } = await addIssue(here, { title: 'Care', description: '- [ ] dig\n- [x] plant\n- [ ] water' });
  const path = `${base}/${iid}`;
  const url = `/projects/${here.project.id}/issues/${iid}`;
  const versionIn = (html: string, form: string) =>
    new RegExp(`id="${form}"[\\s\\S]*?name="_edited" value="([^"]+)"`).exec(html)?.[1];
  const { html } = await browser.get(path);
  assert.match(html, /<input type="checkbox" name="ticked\[\]" value="1" form="tick" checked aria-label="plant" \/>/);
  const version = versionIn(html, 'tick')!;
  const ticks = { _edited: version, 'boxes[]': ['0', '1', '2'], 'ticked[]': ['0', '2'] };
  assert.equal((await browser.send(path, 'tick', ticks)).to, path);
  const described = async () => (await here.as('developer').get(url)).body.description;
  assert.equal(await described(), '- [x] dig\n- [ ] plant\n- [x] water');
  const late = await browser.send(path, 'tick', { ...ticks, 'ticked[]': [] });
  assert.equal(late.status, 409);
  assert.match(late.html, /Somebody has changed this text since you opened the page/);
  assert.equal(await described(), '- [x] dig\n- [ ] plant\n- [x] water');
  const none = await browser.send(path, 'tick', { _edited: versionIn(late.html, 'tick')!, 'boxes[]': ['0', '1', '2'] });
  assert.equal(none.to, path);
  assert.equal(await described(), '- [ ] dig\n- [ ] plant\n- [ ] water');

  const own = (await here.as('developer').post(`${url}/notes`, { body: '* [ ] mine' })).body.id;
  await here.as('owner').post(`${url}/notes`, { body: '* [ ] theirs' });
  const said = (await browser.get(path)).html;
  assert.match(said, new RegExp(`value="0" form="tick_note-${own}" aria-label="mine"`));
  assert.match(said, /<input type="checkbox" disabled aria-label="theirs" \/>/);
  const [, discussion_id] = new RegExp(`id="tick_note-${own}"[\\s\\S]*?name="discussion_id" value="([^"]+)"`).exec(
    said,
  )!;
  const note = { _edited: versionIn(said, `tick_note-${own}`)!, discussion_id: discussion_id!, note_id: String(own) };
  const ticked = { ...note, 'boxes[]': '0', 'ticked[]': '0', _key: String(own) };
  assert.equal((await browser.send(path, 'tick_note', ticked)).to, path);
  assert.equal((await here.as('developer').get(`${url}/notes/${own}`)).body.body, '* [x] mine');
  assert.equal((await browser.send(path, 'tick_note', ticked)).status, 409);

  const guest = await browserOf(here, here.people.guest);
  assert.match((await guest.get(path)).html, /<input type="checkbox" disabled aria-label="dig" \/>/);
});

test('comments, threads and changes are in one order, each with an anchor and a heading', async () => {
  const { here, browser, base } = await visit();
  const { iid } = await addIssue(here, { title: 'Talk', description: `See #1 ${hostile}` });
  const page = `${base}/${iid}`;
  const commented = await browser.send(page, 'comment', { body: `**First** ${hostile}` });
  assert.match(commented.to!, /\?page=last#note_\d+$/);
  const begun = await browser.send(page, 'thread', { body: 'A thread' });
  const note = begun.to!.split('#note_')[1]!;
  const discussion = /name="discussion_id" value="(\w+)"/g;
  const threads = [...(await browser.get(page)).html.matchAll(discussion)].map(([, id]) => id!);
  assert.equal((await browser.send(page, 'reply', { body: 'A reply', discussion_id: threads.at(-1)! })).status, 303);
  assert.equal((await browser.send(page, 'close')).to, page);

  const { html } = await browser.get(begun.to!.split('#')[0]!);
  assert.match(html, new RegExp(`<article class="note" id="note_${note}" data-part="note_${note}">\\s*<header><h3>`));
  assert.match(html, /<h4>.*replied/);
  const order = ['<strong>First</strong>', 'A thread', 'A reply', 'closed this'].map((text) => html.indexOf(text));
  assert.ok(
    order.every((at) => at > 0) && order.every((at, index) => index === 0 || at > order[index - 1]!),
    String(order),
  );
  assert.doesNotMatch(html, /<script>alert/);

  const edited = await browser.send(`${page}?edit=${note}`, 'edit_note', {
    ...fieldsIn((await browser.get(`${page}?edit=${note}`)).html, `edit_note-${note}`),
    body: 'An older thread',
  });
  assert.equal(edited.to, `${page}#note_${note}`);
  assert.match((await browser.get(page)).html, /An older thread/);
});

test('quick actions, reactions, subscriptions and states have the effects of the API', async () => {
  const { here, browser, base } = await visit();
  const { iid } = await addIssue(here, { title: 'Act' });
  const page = `${base}/${iid}`;
  const only = await browser.send(page, 'comment', { body: '/label ~acted\n/title Acted' });
  assert.deepEqual([only.status, only.to], [303, `${page}?page=last`]);
  await browser.send(page, 'react', { name: 'heart' });
  await browser.send(page, 'subscribe');
  const again = await browser.send(page, 'subscribe');
  assert.deepEqual([again.status, again.to], [303, page]);
  const { html } = await browser.get(page);
  assert.match(html, /<h1>Acted/);
  assert.match(html, /<h1>Acted/);
  assert.ok(fieldsIn(html, 'unreact-heart').award_id && html.includes('Unsubscribe'));
  await browser.send(page, 'close');
  assert.match((await browser.get(page)).html, /value="reopen"/);
  const refused = await browser.send(page, 'comment', { body: ' \n' });
  assert.equal(refused.status, 400);
  assert.match(refused.html, /role="alert">Comment can&#39;t be blank</);
});

test('a long conversation has pages, and a new comment is on the last one', async () => {
  const { here, browser, base } = await visit();
  const { id, iid } = await addIssue(here, { title: 'Long' });
  await sql`
    insert into notes (issue_id, author_id, body)
    select ${id}, ${here.people.owner.id}, 'Comment ' || n from generate_series(1, 60) n`.execute(here.db);
  const page = `${base}/${iid}`;
  const first = (await browser.get(page)).html;
  assert.equal(first.match(/<article/g)?.length, 50);
  assert.match(first, /rel="next" href="[^"]*\?page=2"/);
  const { to } = await browser.send(page, 'comment', { body: 'The newest' });
  const last = (await browser.get(to!.split('#')[0]!)).html;
  assert.ok(last.includes('The newest') && last.includes(`id="${to!.split('#')[1]}"`));
  assert.equal(last.match(/<article/g)?.length, 11);
});

test('a page takes no more statements for more comments', async () => {
  const { here, browser, base } = await visit();
  const { people } = here;
  const counts: number[] = [];
  for (const comments of [2, 40]) {
    const { id, iid } = await addIssue(here, { title: 'Counted', description: 'See #1' });
    await sql`
      insert into notes (issue_id, author_id, body)
      select ${id}, ${people.owner.id}, ${`See #1 and !1, @${people.guest.username}`} from generate_series(1, ${comments}::int)`.execute(
      here.db,
    );
    await browser.get(`${base}/${iid}`);
    statements = 0;
    assert.equal((await browser.get(`${base}/${iid}`)).status, 200);
    counts.push(statements);
  }
  assert.equal(counts[1], counts[0]);
  assert.ok(counts[0]! <= 18, `${counts[0]} statements`);
});

test('a comment that was sent after the session had ended is kept through the sign-in', async () => {
  const { here, base } = await visit();
  const { iid } = await addIssue(here, { title: 'Kept' });
  const page = `${base}/${iid}`;
  const browser = await browserOf(here, here.people.reporter);
  await browser.send('/users/sign_out', 'sign_out');
  const asked = await browser.send(page, 'comment', { body: `Kept ${hostile}` });
  assert.equal(asked.status, 401);
  const login = {
    ...fieldsIn(asked.html, 'sign_in'),
    login: here.people.reporter.username,
    password: 'a word that only tests pass',
  };
  const back = await browser.send('/users/sign_in', 'sign_in', login);
  assert.deepEqual(fieldsIn(back.html, 'comment').body, [`Kept ${hostile}`]);
  assert.equal((await browser.send(page, 'comment', fieldsIn(back.html, 'comment'))).status, 303);
  assert.match((await browser.get(page)).html, /Kept/);
});

test('a hidden issue and a missing one look the same', async () => {
  const { here, base } = await visit();
  const { iid } = await addIssue(here, { title: 'Hidden' });
  const outsider = await browserOf(here, here.people.outsider);
  const pages = [`${base}/${iid}`, `${base}/999`, `/nobody/nothing/-/issues/1`, `${base}/${iid}/edit`];
  const [hidden, ...others] = await Promise.all(pages.map((page) => outsider.get(page)));
  assert.equal(hidden!.status, 404);
  for (const other of others) assert.deepEqual([other.status, other.html], [404, hidden!.html]);
  const anonymous = await anonymousBrowser(here.url).get(pages[0]!);
  assert.deepEqual([anonymous.status, anonymous.to], [302, `/users/sign_in?to=${encodeURIComponent(pages[0]!)}`]);
});

test('everybody reads the comments on what everybody sees, except for internal ones', async () => {
  const here = await world();
  for (const path of [`/groups/${here.group.id}`, `/projects/${here.project.id}`])
    assert.equal((await here.as('owner').put(path, { visibility: 'public' })).status, 200);
  const { iid } = await addIssue(here, { title: 'Frost' });
  const notes = `/projects/${here.project.id}/issues/${iid}/notes`;
  for (const fields of [{ body: 'Cover the blossoms' }, { body: 'Who forgot?', internal: true }])
    assert.equal((await here.as('owner').post(notes, fields)).status, 201);
  const path = `/${here.project.full_path}/-/issues/${iid}`;
  const { html } = await anonymousBrowser(here.url).get(path);
  assert.ok(html.includes('Cover the blossoms') && html.includes('Sign in</a> to comment'));
  assert.ok(!html.includes('Who forgot?'));
  assert.match((await (await browserOf(here, here.people.owner)).get(path)).html, /Who forgot\?/);
});

test('an address of a work item leads to the issue', async () => {
  const { here, browser, base } = await visit();
  const { to } = await browser.get(`/${here.project.full_path}/-/work_items/1`);
  assert.equal(to, `${base}/1`);
});

test('an address leads to no other server, whatever is in its parts', async () => {
  const { here, browser } = await visit();
  const stranger = anonymousBrowser(here.url);
  for (const each of [browser, stranger])
    for (const path of [
      '/users/%2fevil.example',
      '/users/%5cevil.example',
      '/users/%2f%2fevil.example',
      '/%2fevil.example/-/work_items/1',
      '/%5cevil.example/-/work_items/1',
      '/groups/%2fevil.example/-/epics/1/edit',
      '/%2fevil.example/-/feature_flags_user_lists/1/edit',
      '/%2fevil.example/-/releases/v1/edit',
      '/%2fevil.example/-/wikis',
      '/%2fevil.example/issues/1',
      '/%2fevil.example',
    ]) {
      const { status, headers } = await each.get(path);
      const location = headers.get('location');
      if (location === null) assert.equal(status, 404, path);
      else assert.equal(new URL(location, here.url).origin, new URL(here.url).origin, `${path} leads to ${location}`);
    }
});

test('to-do items lead to what they are about, and are done one by one or all at once', async () => {
  const { here, browser } = await visit();
  const { developer } = here.people;
  for (const title of [`Weed ${hostile}`, 'Mow']) await addIssue(here, { title, assignee_ids: [developer.id] });
  const { html } = await browser.get('/dashboard/todos');
  assert.ok(html.includes('Weed') && html.includes('Mow') && !html.includes('<script>alert'));
  const [, id] = /id="(done-\d+)"/.exec(html)!;
  assert.equal((await browser.send('/dashboard/todos', 'done', fieldsIn(html, id!))).status, 303);
  await browser.send('/dashboard/todos', 'all_done');
  assert.match((await browser.get('/dashboard/todos')).html, /There is nothing to do\./);
  assert.match((await browser.get('/dashboard/todos?state=done')).html, /Weed/);
});
