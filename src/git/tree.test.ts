import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryRepository, userGit } from '../../test/support/bare_repository.ts';
import { randomFrom } from '../../test/support/random.ts';
import { ObjectWriter } from './loose_objects.ts';
import { entriesInTurn, type NamedEntry, type RawEntry, Tree, tree_mode } from './tree.ts';

const id_bytes = 20;
const idOf = (number: number) => number.toString(16).padStart(2 * id_bytes, '0');
/** Their order depends on whether they are folders. */
const names = ['a', 'a-', 'a.b', 'a0', 'a b', 'ab', 'b', '\xe4', 'A', '0'];

const treeOf = (entries: ReadonlyMap<string, RawEntry>) => Tree.of(Tree.empty.with(entries), id_bytes);
const entriesOf = (tree: Tree) => Array.from({ length: tree.length }, (_, position) => tree.at(position));
const byName = (entries: Iterable<NamedEntry>) =>
  new Map(Array.from(entries, ({ raw_name, ...entry }) => [raw_name, entry]));

test('a tree finds, changes and compares its entries as a map of them would', async () => {
  const random = randomFrom(7);
  const anEntry = () => ({ mode: random.of([tree_mode, '100644', '100755', '160000']), id: idOf(random.below(1000)) });
  const entries = new Map<string, RawEntry>();
  let tree = Tree.empty;
  for (let step = 0; step < 500; step++) {
    const changes = new Map(
      Array.from({ length: 1 + random.below(3) }, () => [
        random.of(names),
        random.below(3) === 0 ? undefined : anEntry(),
      ]),
    );
    const before = new Map(entries);
    for (const [name, entry] of changes) entry ? entries.set(name, entry) : entries.delete(name);
    const changed = await Tree.of(tree.with(changes), id_bytes);
    assert.deepEqual(byName(entriesOf(changed)), entries);
    assert.deepEqual(entriesOf(changed), entriesOf(await treeOf(entries)), 'the order depends on the entries alone');
    for (const name of [...names, 'c', '']) assert.deepEqual(entryIn(changed, name), entries.get(name), name);

    const [old, now] = [new Map<string, RawEntry>(), new Map<string, RawEntry>()];
    for await (const difference of tree.differencesTo(changed)) {
      if (difference.old) old.set(difference.old.raw_name, withoutName(difference.old));
      if (difference.now) now.set(difference.now.raw_name, withoutName(difference.now));
    }
    const isChanged = (name: string) => {
      const [one, other] = [before.get(name), entries.get(name)];
      return one?.id !== other?.id || one?.mode !== other?.mode;
    };
    assert.deepEqual(old, new Map([...before].filter(([name]) => isChanged(name))));
    assert.deepEqual(now, new Map([...entries].filter(([name]) => isChanged(name))));
    tree = changed;
  }
});

const withoutName = ({ mode, id }: RawEntry) => ({ mode, id });

function entryIn(tree: Tree, name: string): RawEntry | undefined {
  const entry = tree.get(name);
  return entry && withoutName(entry);
}

test('git reads what was written, also of a folder that takes several turns', async (t) => {
  const repository = await temporaryRepository(t);
  const writer = new ObjectWriter(repository, 'sha1');
  const blob = await writer.add('blob', Buffer.from('1\n'));
  const empty = await writer.add('tree', Buffer.alloc(0));
  const count = 2 * entriesInTurn + 1;
  const entries = Array.from({ length: count }, (_, number): [string, RawEntry] => [
    `${number}`,
    number % 2 ? { mode: '100644', id: blob } : { mode: tree_mode, id: empty },
  ]);
  const content = Tree.empty.with(entries);
  const id = await writer.add('tree', content);
  await writer.finish();
  await userGit(repository.path, 'fsck', '--strict', id);
  const listed = await userGit(repository.path, 'ls-tree', '--name-only', id);
  const tree = await Tree.of(content, id_bytes);
  assert.deepEqual(
    entriesOf(tree).map(({ raw_name }) => raw_name),
    listed.trim().split('\n'),
  );
  assert.equal(tree.get(`${count - 1}`)?.id, empty);
});

test('bytes that are no tree are refused', async () => {
  const content = Tree.empty.with([['a', { mode: '100644', id: idOf(1) }]]);
  for (const bytes of [
    content.subarray(0, -1),
    Buffer.from('a'),
    Buffer.from('100644 a'),
    Buffer.concat([Buffer.from(' '), content]),
  ])
    await assert.rejects(Tree.of(bytes, id_bytes), /cut off/);
  assert.equal((await Tree.of(content, id_bytes)).length, 1);
});
