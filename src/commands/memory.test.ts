/** When memory is given back. */
import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { releaseMemory } from './memory.ts';

const megabyte = 1024 * 1024;

test('memory is released after the start, and when it has grown and hardly anything has been asked for half a minute', ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  let [size_bytes, released] = [150 * megabyte, 0];
  mock.method(process.memoryUsage, 'rss', () => size_bytes);
  releaseMemory(() => {
    size_bytes = 150 * megabyte;
    released += 1;
  });
  const spans = (count: number, requests: number) => {
    for (let span = 0; span < count; span++) {
      for (let request = 0; request < requests; request++) channel('http.server.request.start').publish({});
      mock.timers.tick(10_000);
    }
  };
  mock.timers.tick(5000);
  assert.equal(released, 1);
  size_bytes = 300 * megabyte;
  spans(5, 4);
  assert.equal(released, 1, 'busy');
  spans(2, 3);
  assert.equal(released, 1, 'at rest for less than half a minute');
  spans(1, 3);
  assert.equal(released, 2, 'at rest');
  size_bytes = 181 * megabyte;
  spans(6, 0);
  assert.equal(released, 2, 'grown by 31 MB');
  size_bytes = 182 * megabyte;
  spans(1, 0);
  assert.equal(released, 3, 'grown by 32 MB');
});
