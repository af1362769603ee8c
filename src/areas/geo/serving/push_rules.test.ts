/** Where the commands of a push end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PushCommands } from './push_rules.ts';

const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
const [one, two, none] = ['1'.repeat(40), '2'.repeat(40), '0'.repeat(40)];
const command = (from: string, to: string, name: string) => `${from} ${to} refs/heads/${name}`;

/** What is known after a push was read byte by byte. */
function endOf(text: string): PushCommands['end'] {
  const commands = new PushCommands();
  for (const byte of Buffer.from(text)) commands.read(Buffer.from([byte]));
  return commands.end;
}

test('a pack follows commands that create or update a ref, and nothing follows deletions', () => {
  const changes = line(`${command(one!, two!, 'main')}\0 report-status side-band-64k`);
  assert.equal(endOf(changes), undefined);
  assert.deepEqual(endOf(`${changes}0000`), { pack_follows: true });
  const deletes = line(`${command(one!, none!, 'old')}\0 report-status`);
  assert.deepEqual(endOf(`${deletes}0000`), { pack_follows: false });
  assert.deepEqual(endOf(`${deletes}${line(command(none!, one!, 'new'))}0000`), { pack_follows: true });
  assert.deepEqual(endOf('0000'), { pack_follows: false });
});

test('options of a push belong to its commands', () => {
  const deletes = line(`${command(one!, none!, 'old')}\0 report-status push-options`);
  assert.equal(endOf(`${deletes}0000`), undefined);
  assert.deepEqual(endOf(`${deletes}0000${line('ci.skip')}0000`), { pack_follows: false });
});

test('data that is not a push is refused', () => {
  assert.throws(() => endOf('GET / HTTP/1.1'), /cannot be read/);
  assert.throws(() => endOf('0001'), /cannot be read/);
});
