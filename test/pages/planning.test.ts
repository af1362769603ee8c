/** Labels, milestones, iterations, epics, lists and the first page, as people use them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anonymousBrowser, type Browser, browserOf, fieldsIn } from '../support/browser.ts';
import { reports, thrown } from '../support/error_tracking.ts';
import { addIssue } from '../support/issues.ts';
import { addMergeRequest, worldWithTopic } from '../support/merge_requests.ts';
import { sent } from '../support/sent.ts';
import type { World } from '../support/world.ts';

let known: Promise<{ here: World; browser: Browser; at: string; group: string }> | undefined;
/** One world for all tests of the file, in which the owner has signed in. */
const visit = () =>
  (known ??= (async () => {
    const here = await worldWithTopic();
    const browser = await browserOf(here, here.people.owner);
    return { here, browser, at: `/${here.project.full_path}`, group: `/groups/${here.group.full_path}` };
  })());

test('a label is created, changed, promoted and deleted', async () => {
  const { here, browser, at, group } = await visit();
  const labels = `${at}/-/labels`;
  const offered = fieldsIn((await browser.get(labels)).html, 'create');
  assert.equal((await browser.send(labels, 'create', { ...offered, name: 'ripe', color: '#aa2211' })).to, labels);
  const refused = await browser.send(labels, 'create', { ...offered, name: 'ripe', color: '#aa2211' });
  assert.deepEqual([refused.status, /already exists/.test(refused.html)], [409, true]);

  const { html } = await browser.get(labels);
  const edit = /href="([^"]*labels\/\d+\/edit)"/.exec(html)![1]!;
  const fields = fieldsIn((await browser.get(edit)).html, 'change');
  assert.deepEqual([fields.new_name, fields.color], [['ripe'], ['#aa2211']]);
  assert.equal((await browser.send(edit, 'change', { ...fields, new_name: 'mellow', priority: '3' })).to, labels);
  assert.match((await browser.get(labels)).html, /mellow[\s\S]*Priority 3/);
  assert.equal((await browser.send(edit, 'promote', {})).to, labels);
  assert.match((await browser.get(labels)).html, /mellow[\s\S]*Of the group/);
  const ofGroup = (await browser.get(`${group}/-/labels`)).html;
  const remove = /href="([^"]*labels\/\d+\/edit)"/.exec(ofGroup)![1]!;
  assert.equal((await browser.send(remove, 'remove', {})).to, `${group}/-/labels`);
  assert.doesNotMatch((await browser.get(labels)).html, /mellow/);
  const guest = await browserOf(here, here.people.guest);
  assert.doesNotMatch((await guest.get(labels)).html, /id="create"/);
});

test('a milestone is created, burns down, is closed and deleted', async () => {
  const { here, browser, at } = await visit();
  const milestones = `${at}/-/milestones`;
  const today = new Date().toISOString().slice(0, 10);
  const due = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);
  const start = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
  const fields = { title: 'Spring', start_date: start, due_date: due, description: '*Sow*' };
  const { to } = await browser.send(`${milestones}/new`, 'create', fields);
  assert.equal(to, `${milestones}/1`);
  const { body } = await here.as('owner').get(`/projects/${here.project.id}/milestones`);
  const milestone_id = String(body[0].id);
  for (const title of ['Sow', 'Water']) {
    const { iid } = await addIssue(here, { title, milestone_id: body[0].id });
    if (title === 'Sow')
      await sent(here.as('owner').put(`/projects/${here.project.id}/issues/${iid}`, { state_event: 'close' }));
  }
  const { html } = await browser.get(to!);
  assert.match(html, /<em>Sow<\/em>/);
  assert.match(html, /1 of 2 issues closed/);
  assert.match(html, new RegExp(`aria-label="0 open issues on ${start}, 1 on ${today}"`));
  assert.equal((await browser.send(to!, 'close', fieldsIn(html, 'close'))).status, 303);
  assert.match((await browser.get(`${milestones}?state=closed`)).html, /Spring/);
  const edit = fieldsIn((await browser.get(`${to}/edit`)).html, 'change');
  assert.equal((await browser.send(`${to}/edit`, 'change', { ...edit, title: 'Early spring' })).to, to);
  assert.match((await browser.get(to!)).html, /<h1>Early spring/);
  assert.equal((await browser.send(`${to}/edit`, 'remove', { milestone_id })).to, milestones);
});

test('an epic is written, gets a child, an issue and a comment, and its dates', async () => {
  const { here, browser, group, at } = await visit();
  const epics = `${group}/-/epics`;
  const { to } = await browser.send(`${epics}/new`, 'create', { title: 'Harvest', description: 'All **of** it' });
  assert.equal(to, `${epics}/1`);
  assert.equal((await browser.send(to!, 'add_child', { title: 'Apples' })).status, 303);
  const { iid } = await addIssue(here, { title: 'Ladders' });
  const issue = `${at}/-/issues/${iid}`;
  const choices = (await browser.get(`${issue}?change=epic_id`)).html;
  const value = /<option value="(\d+)">Harvest/.exec(choices)![1]!;
  assert.equal((await browser.send(`${issue}?change=epic_id`, 'change', { epic_id: value })).to, issue);
  assert.match((await browser.get(issue)).html, /Epic[\s\S]{0,900}>Harvest</);

  const shown = (await browser.get(to!)).html;
  for (const text of ['<strong>of</strong>', 'Apples', 'Ladders', '0 of 1 issue closed'])
    assert.ok(shown.includes(text), text);
  const comment = fieldsIn(shown, 'comment');
  assert.equal((await browser.send(to!, 'comment', { ...comment, body: 'Soon.' })).status, 303);
  const dates = fieldsIn((await browser.get(`${to}?change=due_date`)).html, 'change');
  const fixed = { ...dates, due_date_is_fixed: 'true', due_date_fixed: '2030-09-01' };
  assert.equal((await browser.send(`${to}?change=due_date`, 'change', fixed)).to, to);
  const later = (await browser.get(to!)).html;
  for (const text of ['Soon.', '1 Sep 2030']) assert.ok(later.includes(text), text);
  assert.equal((await browser.send(to!, 'close', {})).status, 303);
  assert.match((await browser.get(`${epics}?state=closed`)).html, /Harvest/);
});

test('epics and issues are added to an epic, ordered, linked and taken out again', async () => {
  const { here, browser, group } = await visit();
  const [parent, one, two] = await Promise.all(
    ['Orchard', 'North', 'South'].map(async (title) => {
      const { to } = await browser.send(`${group}/-/epics/new`, 'create', { title });
      return { page: to!, iid: to!.split('/').at(-1)! };
    }),
  );
  const page = parent!.page;
  const send = async (form: string, values: Record<string, string> = {}, id = form) => {
    const fields = { ...fieldsIn((await browser.get(page)).html, id), ...values };
    return browser.send(page, form, fields);
  };
  /** The positions of titles on the page, in the order in which they are named. */
  const areInOrder = async (...titles: string[]) => {
    const { html } = await browser.get(page);
    const places = titles.map((title) => html.indexOf(`>${title}</a>`));
    assert.ok(
      places.every((place, index) => place > (places[index - 1] ?? 0)),
      `${titles} at ${places}`,
    );
  };
  assert.equal((await send('adopt', { target: one!.iid })).to, page);
  assert.equal((await send('adopt', { target: `${here.group.full_path}&${two!.iid}` })).to, page);
  assert.equal((await send('adopt', { target: 'the west' })).status, 400);
  const { html } = await browser.get(page);
  const [, down] = /id="(move_child-\d+-down)"/.exec(html)!;
  const first = html.indexOf('>North</a>') < html.indexOf('>South</a>') ? ['North', 'South'] : ['South', 'North'];
  assert.equal((await send('move_child', {}, down)).to, page);
  await areInOrder(first[1]!, first[0]!);
  const [, remove] = /id="(remove_child-\d+)"/.exec((await browser.get(page)).html)!;
  assert.equal((await send('remove_child', {}, remove)).to, page);
  assert.ok(!(await browser.get(page)).html.includes(`>${first[1]}</a>`));

  assert.equal((await send('link', { target: two!.iid, link_type: 'blocks' })).status, 303);
  assert.match((await browser.get(page)).html, /Blocks <a[^>]*>South</);
  const [, unlink] = /id="(unlink-\d+)"/.exec((await browser.get(page)).html)!;
  assert.equal((await send('unlink', {}, unlink)).to, page);

  for (const title of ['Dig', 'Plant']) {
    const { iid, web_url } = await addIssue(here, { title });
    const target = title === 'Dig' ? `${here.project.path}#${iid}` : web_url;
    assert.equal((await send('add_issue', { target })).to, page);
  }
  assert.match((await send('add_issue', { target: '1' })).html, /Issue needs its project/);
  const issues = (await browser.get(page)).html;
  const [, up] = /id="(move_issue-\d+-up)"/.exec(issues)!;
  const order = issues.indexOf('>Dig</a>') < issues.indexOf('>Plant</a>') ? ['Dig', 'Plant'] : ['Plant', 'Dig'];
  assert.equal((await send('move_issue', {}, up)).to, page);
  await areInOrder(order[1]!, order[0]!);
  const guest = await (await browserOf(here, here.people.guest)).get(page);
  assert.doesNotMatch(guest.html, /id="(adopt|link|move_child-[^"]*)"/);
});

test('a cadence is created and changed, and an iteration created', async () => {
  const { browser, group } = await visit();
  const iterations = `${group}/-/iterations`;
  const offered = fieldsIn((await browser.get(iterations)).html, 'create_cadence');
  const cadence = { ...offered, title: 'By hand', automatic: 'false', start_date: '' };
  assert.equal((await browser.send(iterations, 'create_cadence', cadence)).status, 303);
  const cadence_id = /<option value="(\d+)">By hand/.exec((await browser.get(iterations)).html)![1]!;
  const form = `change_cadence-${cadence_id}`;
  const own = fieldsIn((await browser.get(iterations)).html, form);
  assert.equal((await browser.send(iterations, 'change_cadence', { ...own, title: 'By foot' })).status, 303);
  assert.deepEqual(fieldsIn((await browser.get(iterations)).html, form).title, ['By foot']);
  const dates = { cadence_id, title: 'First', start_date: '2030-05-01', due_date: '2030-05-14' };
  assert.equal((await browser.send(iterations, 'create', dates)).status, 303);
  const { html } = await browser.get(iterations);
  const address = new RegExp(`href="(${iterations}/\\d+)">First`).exec(html)![1]!;
  assert.match((await browser.get(address)).html, /Upcoming[\s\S]*There are no issues in it/);
});

test('several issues are closed and labelled at once', async () => {
  const { here, browser, at } = await visit();
  const numbers: string[] = [];
  for (const title of ['One', 'Two', 'Three']) numbers.push(String((await addIssue(here, { title })).iid));
  const list = `${at}/-/issues`;
  assert.match(
    (await browser.get(list)).html,
    new RegExp(`<input type="checkbox" name="iids\\[\\]" value="${numbers[0]}" form="bulk"`),
  );
  const none = await browser.send(list, 'bulk', { add_labels: 'done' });
  assert.deepEqual([none.status, /Nothing is chosen/.test(none.html)], [400, true]);
  const change = { 'iids[]': numbers.slice(0, 2), state_event: 'close', add_labels: 'done', remove_labels: '' };
  assert.equal((await browser.send(`${list}?sort=created_asc`, 'bulk', change)).to, `${list}?sort=created_asc`);
  const { body } = await here.as('owner').get(`/projects/${here.project.id}/issues?labels=done&state=closed`);
  assert.deepEqual(body.map(({ title }: { title: string }) => title).toSorted(), ['One', 'Two']);
  const missing = await browser.send(list, 'bulk', { ...change, 'iids[]': [numbers[2]!, '999'] });
  assert.equal(missing.status, 404);
  assert.match((await browser.get(`${list}?state=closed`)).html, /Three/);
});

test('the first page shows what waits for the reader, and the lists behind it', async () => {
  const { here, at } = await visit();
  const { developer } = here.people;
  await addIssue(here, { title: 'Prune', assignee_ids: [developer.id] });
  await addMergeRequest(here, { reviewer_ids: [developer.id] }, 'owner');
  const browser = await browserOf(here, developer);
  const { html } = await browser.get('/');
  for (const text of [
    /Reviews asked of you[\s\S]*Sow the beans/,
    /To-do list[\s\S]*assigned you/,
    /Issues assigned to you[\s\S]*Prune/,
    new RegExp(`<h2 id="projects">[\\s\\S]*href="${at}"`),
  ])
    assert.match(html, text);
  assert.match((await browser.get('/dashboard/issues')).html, /Prune/);
  assert.match((await browser.get('/dashboard/merge_requests?scope=reviews_for_me')).html, /Sow the beans/);
  assert.doesNotMatch((await browser.get('/dashboard/merge_requests?scope=created_by_me')).html, /Sow the beans/);
  assert.equal((await browser.get('/dashboard')).to, '/');
  const group = `/groups/${here.group.full_path}`;
  assert.match((await browser.get(`${group}/-/issues`)).html, /Prune/);
  assert.match((await browser.get(`${group}/-/merge_requests`)).html, /Sow the beans/);
  const stranger = anonymousBrowser(here.url);
  assert.match((await stranger.get('/')).html, /<h1>Projects/);
});

test('an error shows its stack and is resolved, assigned and made an issue', async () => {
  const { here, browser, at } = await visit();
  const { errors, report } = await reports(here);
  await report(thrown('RottenError', 'The apple is rotten', { release: '1.0' }));
  const [error] = await sent(here.as('owner').get(errors));
  const list = `${at}/-/error_tracking`;
  assert.match((await browser.get(list)).html, /RottenError[\s\S]*1 event/);
  const page = `${list}/${error.id}/details`;
  const { html } = await browser.get(page);
  for (const text of [/<h2>Stack/, /aria-label="1 event in 24 hours/, /aria-label="1 event in 30 days/])
    assert.match(html, text);
  const assigned = { assignee_id: String(here.people.developer.id) };
  assert.equal((await browser.send(page, 'change', assigned)).to, page);
  const { to } = await browser.send(page, 'issue');
  assert.match((await browser.get(to!)).html, /<h1>RottenError/);
  assert.match((await browser.get(page)).html, /Assignee<\/dt><dd>[\s\S]*developer[\s\S]*Issue<\/dt>/);
  const chosen = { 'ids[]': [String(error.id)], status: 'ignored' };
  assert.equal((await browser.send(list, 'several', chosen)).to, list);
  assert.doesNotMatch((await browser.get(list)).html, /RottenError/);
  assert.match((await browser.get(`${list}?status=ignored`)).html, /RottenError/);
  assert.equal((await browser.send(page, 'remove')).to, list);
});

test('a search says how much there is of other kinds, and in wider places', async () => {
  const { here, browser } = await visit();
  const { as, group, project } = here;
  const other = await sent(as('owner').post('/projects', { name: 'Quinces', namespace_id: group.id }));
  await addIssue(here, { title: 'Quince jelly' });
  await sent(as('owner').post(`/projects/${project.id}/milestones`, { title: 'Quince season' }));
  for (const title of ['Quince jam', 'Quince tart'])
    await sent(as('owner').post(`/projects/${other.id}/issues`, { title }));
  const at = `/search?search=quince&project_id=${encodeURIComponent(project.full_path)}`;
  const { html } = await browser.get(`${at}&scope=issues`);
  assert.match(html, />Issues <span class="soft">1</);
  assert.match(html, />Milestones <span class="soft">1</);
  assert.match(html, />Merge requests <span class="soft">0</);
  assert.match(html, new RegExp(`group_id=${encodeURIComponent(group.full_path)}[^"]*">3 in ${group.full_path}<`));
  assert.match(html, /href="\/search\?search=quince&amp;scope=issues">3 everywhere</);
  const wide = (await browser.get(`/search?search=quince&scope=issues&group_id=${group.full_path}`)).html;
  assert.match(wide, />Projects <span class="soft">1</);
  assert.doesNotMatch(wide, />\d+ in group/);
});
