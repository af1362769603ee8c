import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { commented, notesIn } from '../../../../test/support/commented.ts';
import { performJob } from '../../../../test/support/jobs.ts';
import { repositoryIn } from '../../../../test/support/repository.ts';
import type { Persona } from '../../../../test/support/world.ts';
import { closeReaders, updateRefs, writeCommit } from '../../../git/index.ts';
import { endTodosOfGoneCommits } from '../../activity/todos/index.ts';

test('a comment is a thread of one note, and may name a changed line', async () => {
  const here = await commented();
  const { as, at, people } = here;
  const plain = await as('reporter').post(`${at}/comments`, { note: 'Plain' });
  assert.equal(plain.status, 201, JSON.stringify(plain.body));
  const { author, created_at } = plain.body;
  assert.equal(author.id, people.reporter.id);
  const nowhere = { path: null, line: null, line_type: null };
  assert.deepEqual(plain.body, { note: 'Plain', ...nowhere, author, created_at });
  const comment = async (more: object) => {
    const { status, body } = await as('reporter').post(`${at}/comments`, { note: 'x', ...more });
    assert.equal(status, 201, JSON.stringify(body));
    return { path: body.path, line: body.line, line_type: body.line_type };
  };
  const added = { path: 'beans.txt', line: 3, line_type: 'new' };
  const removed = { path: 'beans.txt', line: 2, line_type: 'old' };
  assert.deepEqual(await comment({ path: 'beans.txt', line: 3 }), added);
  assert.deepEqual(await comment(removed), removed);
  assert.deepEqual(await comment({ path: 'beans.txt', line: 15 }), nowhere, 'a line without a change');
  assert.deepEqual(await comment({ path: 'nowhere.txt', line: 1 }), nowhere);

  const discussions = (await as('reporter').get(`${at}/discussions`)).body;
  assert.deepEqual(
    discussions.map((thread: { individual_note: boolean; notes: { type: string }[] }) => [
      thread.individual_note,
      thread.notes.map(({ type }) => type),
    ]),
    [
      [true, [null]],
      [false, ['DiffNote']],
      [false, ['DiffNote']],
      [true, [null]],
      [true, [null]],
    ],
  );
  const refused = await as('reporter').post(`${at}/discussions/${discussions[0].id}/notes`, { body: 'x' });
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, '400 Bad request - Discussion can not be replied to.'],
  );
  assert.equal(
    (await as('reporter').post(`${at}/discussions/${discussions[1].id}/notes`, { body: 'Reply' })).status,
    201,
  );
  const listed = await as('reporter').get(`${at}/comments`);
  assert.deepEqual(
    listed.body.map(({ note, line }: { note: string; line: number | null }) => [note, line]),
    [
      ['Plain', null],
      ['x', 3],
      ['x', 2],
      ['x', null],
      ['x', null],
      ['Reply', 3],
    ],
  );
  assert.equal(listed.headers.get('x-total'), '6');
});

test('only callers who may read the code read comments, and signed-in ones write them', async () => {
  const here = await commented();
  const { as, at, db, project } = here;
  const seen = async (persona: Persona | 'anonymous') => (await as(persona).get(`${at}/comments`)).status;
  const written = async (persona: Persona | 'anonymous') =>
    (await as(persona).post(`${at}/comments`, { note: 'x' })).status;
  assert.deepEqual([await seen('outsider'), await written('outsider')], [404, 404]);
  assert.deepEqual([await seen('guest'), await written('guest')], [403, 403]);
  assert.equal(await notesIn(here), 0);
  assert.deepEqual([await seen('reporter'), await written('reporter')], [200, 201]);
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  assert.deepEqual([await seen('anonymous'), await written('anonymous')], [200, 401]);
  assert.deepEqual([await seen('outsider'), await written('outsider')], [200, 201]);
  assert.equal(await notesIn(here), 2);
  const nowhere = await as('reporter').get(at.replace(here.second, 'nowhere').concat('/comments'));
  assert.deepEqual([nowhere.status, nowhere.body.message], [404, '404 Commit Not Found']);
  await db.updateTable('projects').set({ repository_access_level: 'disabled' }).where('id', '=', project.id).execute();
  const none = await as('reporter').get(`${at}/comments`);
  assert.deepEqual([none.status, none.body.message], [404, '404 Repository Not Found']);
});

test('invalid comments are refused', async () => {
  const here = await commented();
  const { as, at } = here;
  const cases: [Record<string, unknown>, string][] = [
    [{}, 'note is missing'],
    [{ note: ' ' }, '400 Bad request - Note {:note=>["can\'t be blank"]}'],
    [{ note: 'x', path: 'beans.txt' }, 'line is missing'],
    [{ note: 'x', path: 'beans.txt', line: 'two' }, 'line is invalid'],
    [{ note: 'x', path: 'beans.txt', line: 2, line_type: 'both' }, 'line_type does not have a valid value'],
  ];
  for (const [comment, message] of cases) {
    const { status, body } = await as('reporter').post(`${at}/comments`, comment);
    assert.deepEqual([status, body.message], [400, message]);
  }
  assert.equal(await notesIn(here), 0);
});

test('a to-do item on a commit that is gone is counted until the night, and no other one ends', async () => {
  const here = await commented();
  const { as, project, people, services } = here;
  const repository = repositoryIn(here);
  const person = { name: 'Ada', email: 'ada@example.com', date: new Date(0) };
  const { id: lost } = await writeCommit(repository, {
    parent: here.second,
    message: 'Lost\n',
    author: person,
    committer: person,
    changes: [{ op: 'put', path: 'lost.txt', mode: '100644', content: Buffer.from('x') }],
  });
  const topic = { ref: 'refs/heads/topic', old: null, new: lost };
  await updateRefs(repository, [topic]);
  const note = `@${people.reporter.username}`;
  for (const sha of [lost, here.second])
    assert.equal(
      (await as('maintainer').post(`/projects/${project.id}/repository/commits/${sha}/comments`, { note })).status,
      201,
    );
  const count = async () => (await as('reporter').get('/user_counts')).body.todos;
  const night = () => performJob(services, endTodosOfGoneCommits);
  await night();
  assert.equal(await count(), 2);

  await closeReaders(repository);
  await rename(repository.path, `${repository.path}.away`);
  await night();
  await rename(`${repository.path}.away`, repository.path);
  assert.equal(await count(), 2, 'a repository out of reach ends nothing');

  await updateRefs(repository, [{ ...topic, old: lost, new: null }]);
  await closeReaders(repository);
  await rename(path.join(repository.path, 'objects', lost.slice(0, 2), lost.slice(2)), `${repository.path}/lost`);
  await night();
  assert.equal(await count(), 1);
  assert.deepEqual(
    (await as('reporter').get('/todos')).body.map(({ target }: { target: { id: string } }) => target.id),
    [here.second],
  );
});
