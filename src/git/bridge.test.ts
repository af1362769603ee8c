import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { throughBridge } from './bridge.ts';
import { GitError } from './command.ts';
import { type BridgedRemote, remoteRefs } from './remotes.ts';

/** The other side: it sends a long line byte by byte. */
function trickling(t: TestContext): Duplex {
  const there = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
  there.push('0fff');
  const timer = setInterval(() => there.push('a'), 20);
  t.after(() => clearInterval(timer));
  return there;
}

test('another system that sends too little at a time is given up', async (t) => {
  const rules = {
    open: async () => trickling(t),
    most_bytes: 1_000_000,
    floor: { window_ms: 300, least_bytes: 10_000 },
  };
  const { signal } = new AbortController();
  const asking = throughBridge(rules, (remote: BridgedRemote) => remoteRefs(remote, { signal }));
  await assert.rejects(asking, (error) => error instanceof GitError && /too slow/.test(error.stderr));
});
