import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { Newcomers } from './newcomers.ts';

/** Adds connections of sources in turn, and says which of them are closed. */
function added(newcomers: Newcomers, sources: readonly string[]) {
  const sockets = sources.map((source) => {
    const socket = new Socket();
    newcomers.add(socket, source);
    return socket;
  });
  return { sockets, closed: () => sockets.flatMap(({ destroyed }, index) => (destroyed ? [index] : [])) };
}

test('a source that has too many loses its oldest, and of too many in all the busiest source does', () => {
  const newcomers = new Newcomers({ all: 5, per_source: 3, time_ms: 60_000 });
  const { sockets, closed } = added(newcomers, ['a', 'b', 'b', 'b', 'b', 'c', 'd', 'e']);
  assert.deepEqual(closed(), [1, 2, 3]);
  assert.deepEqual(
    [newcomers.remove(sockets[0]!), newcomers.remove(sockets[0]!), newcomers.remove(sockets[1]!)],
    [true, false, false],
  );
  newcomers.close();
  assert.deepEqual(closed(), [1, 2, 3, 4, 5, 6, 7]);
});

test('those that nobody removes in time are closed', async () => {
  const newcomers = new Newcomers({ all: 5, per_source: 5, time_ms: 50 });
  const [late, known] = added(newcomers, ['a', 'a']).sockets;
  newcomers.remove(known!);
  await once(late!, 'close');
  assert.equal(known!.destroyed, false);
});
