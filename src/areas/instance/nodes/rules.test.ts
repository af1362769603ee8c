import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LivingNode, type NodeFacts, nodeProblem } from './rules.ts';

const one: NodeFacts = {
  name: 'one:3000',
  host: 'one',
  url: 'https://forge.example.com',
  roles: ['requests', 'jobs'],
  data_id: 'a',
};
const other: LivingNode = { ...one, name: 'two:3000', host: 'two', data_id: 'b', silent_s: 4 };

test('servers with the same address, names of their own and data folders of their own work together', () => {
  assert.equal(nodeProblem(one, [], 0), undefined);
  assert.equal(nodeProblem(one, [other], 59), undefined);
});

test('a server takes the name over that it had before, and no name of another machine', () => {
  assert.equal(nodeProblem(one, [{ ...other, name: one.name, host: one.host }], 0), undefined);
  assert.match(nodeProblem(one, [{ ...other, name: one.name }], 0)!, /^Another server with the node name one:3000/);
});

test('another address, a shared data folder and a wrong clock are refused', () => {
  assert.match(nodeProblem(one, [{ ...other, url: 'http://localhost:3000' }], 0)!, /has the address .* 4 seconds ago/);
  assert.match(nodeProblem(one, [{ ...other, data_id: 'a' }], 0)!, /uses the same data folder/);
  assert.match(nodeProblem(one, [other], 61)!, /61 seconds ahead of the clock/);
  assert.match(nodeProblem(one, [other], -75.4)!, /75 seconds behind the clock/);
});

test('a process that only runs jobs shares the data folder of a server', () => {
  assert.equal(nodeProblem({ ...one, roles: ['jobs'] }, [{ ...other, data_id: 'a' }], 0), undefined);
  assert.equal(nodeProblem({ ...one, data_id: null }, [{ ...other, data_id: null }], 0), undefined);
});
