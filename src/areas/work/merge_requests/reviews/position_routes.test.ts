import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';

test('threads are attached to positions in the diff of a version, or of one of its commits', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  const { diff_refs: refs } = await addMergeRequest(here);
  const url = `/projects/${project.id}/merge_requests/1`;
  const [commit] = (await as('reporter').get(`${url}/commits`)).body;
  const place = (position: object, rest = {}) =>
    as('reporter').post(`${url}/discussions`, {
      body: 'Here',
      position: { ...refs, position_type: 'text', ...position },
      ...rest,
    });
  const code = `${createHash('sha1').update('topic.txt').digest('hex')}_0_1`;
  const end = { line_code: code, type: 'new', new_line: 1 };
  const paths = { old_path: 'topic.txt', new_path: 'topic.txt' };

  const begun = await place({ ...paths, new_line: 1, line_range: { start: end, end } });
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  const [note] = begun.body.notes;
  const line = {
    ...refs,
    ...paths,
    position_type: 'text',
    old_line: null,
    new_line: 1,
    line_range: { start: end, end },
  };
  assert.deepEqual(
    [note.type, note.position, note.original_position, note.commit_id, note.resolvable, note.resolved],
    ['DiffNote', line, line, null, true, false],
  );
  const reply = (await as('developer').post(`${url}/discussions/${begun.body.id}/notes`, { body: 'There' })).body;
  assert.deepEqual([reply.type, reply.position, reply.original_position], ['DiffNote', line, line]);
  const file = (await place({ ...paths, position_type: 'file' })).body.notes[0];
  assert.deepEqual(file.position, { ...refs, ...paths, position_type: 'file' });
  const image = { ...paths, position_type: 'image', width: 9, height: 9, x: 1, y: 2 };
  assert.deepEqual((await place(image)).body.notes[0].position, { ...refs, ...image });
  const parent = commit.parent_ids[0];
  const own = { base_sha: parent, start_sha: parent, head_sha: commit.id };
  const inCommit = (await place({ ...own, new_path: 'topic.txt', new_line: 1 }, { commit_id: commit.id })).body
    .notes[0];
  assert.deepEqual([inCommit.commit_id, inCommit.position.head_sha], [commit.id, commit.id]);

  // The API of notes and events show them, too.
  const listed = (await as('reporter').get(`${url}/notes`, { sort: 'asc' })).body;
  assert.deepEqual(
    listed.map(({ id, type }: { id: number; type: string }) => [id, type]),
    [note, reply, file, { id: file.id + 1 }, inCommit].map(({ id }) => [id, 'DiffNote']),
  );
  assert.equal((await as('reporter').get(`${url}/notes/${note.id}`)).body.type, 'DiffNote');
  const events = (await as('reporter').get('/events', { action: 'commented' })).body;
  assert.ok(
    events.some(
      (event: { target_type: string; note: { id: number } }) =>
        event.target_type === 'DiffNote' && event.note.id === note.id,
    ),
  );

  const notShown = '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}';
  const incomplete = '400 Bad request - Note {:position=>["is incomplete"]}';
  const refused = [
    [await place({ ...paths, new_line: 2 }), notShown],
    [await place({ ...paths, new_line: 1, old_line: 1 }), notShown],
    [await place({ new_path: 'README.md', new_line: 1 }), notShown],
    [await place({ ...paths, new_line: 1, line_range: { start: end, end: { ...end, line_code: 'x_0_1' } } }), notShown],
    [await place({ ...paths, new_line: 1, head_sha: parent }), incomplete],
    [await place({ ...paths, new_line: 1 }, { commit_id: parent }), incomplete],
    [await place({ ...paths, new_line: 1 }, { commit_id: 'topic' }), incomplete],
    [await place({ new_line: 1 }), incomplete],
    [await place(paths), incomplete],
    [await place({ ...image, x: undefined }), incomplete],
  ] as const;
  for (const [{ status, body }, message] of refused) assert.deepEqual([status, body.message], [400, message]);
  const missing = await as('reporter').post(`${url}/discussions`, { body: 'x', position: { position_type: 'line' } });
  assert.match(
    missing.body.error,
    /position\[base_sha\] is missing.*position\[position_type\] does not have a valid value/,
  );
  assert.equal((await as('reporter').get(url)).body.user_notes_count, listed.length);
});
