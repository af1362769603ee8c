/** The TypeScript client @gitbeaker/rest: issue boards of projects and groups, and their lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

test('boards of projects and groups are created, changed and deleted, with their lists', async () => {
  const { url, people, project, group } = await world();
  const api = new Gitlab({ host: url, token: people.reporter.token });
  for (const [boards, id] of [
    [api.ProjectIssueBoards, project.id],
    [api.GroupIssueBoards, group.id],
  ] as const) {
    const labels = [];
    for (const name of [`todo ${id}`, `doing ${id}`])
      labels.push(
        boards === api.GroupIssueBoards
          ? await api.GroupLabels.create(id, name, 'red')
          : await api.ProjectLabels.create(id, name, 'red'),
      );
    const board = await boards.create(id, 'Kanban');
    const lists = [];
    for (const label of labels) lists.push(await boards.createList(id, board.id, { labelId: label.id }));
    assert.deepEqual(
      lists.map(({ position, label }) => [position, label.name]),
      labels.map(({ name }, index) => [index, name]),
    );
    await boards.editList(id, board.id, lists[1]!.id, 0);
    assert.deepEqual(
      (await boards.allLists(id, board.id)).map((list) => list.id),
      [lists[1]!.id, lists[0]!.id],
    );
    const far = await refusal(boards.editList(id, board.id, lists[1]!.id, 2));
    assert.equal(far.status, 400);
    await boards.removeList(id, board.id, lists[1]!.id);
    assert.equal((await boards.showList(id, board.id, lists[0]!.id)).position, 0);
    assert.equal((await boards.edit(id, board.id, { name: 'Harvest', weight: 3 })).name, 'Harvest');
    assert.deepEqual(
      (await boards.all(id)).map(({ name }) => name),
      ['Harvest'],
    );
    await boards.remove(id, board.id);
    assert.equal((await refusal(boards.show(id, board.id))).status, 404);
  }
});
