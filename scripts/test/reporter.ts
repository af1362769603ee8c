// The reporter of node:test in a process that runs test files: sends every event to the runner.
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import type { TestEvent } from './messages.ts';

interface TestError extends Error {
  code?: string;
  failureType?: string;
}

function withPrintedError({ type, data }: TestEvent): TestEvent {
  const error = data.details?.error as TestError | undefined;
  if (error === undefined) return { type, data };
  // node:test wraps the error of a test.
  const text = inspect(error.code === 'ERR_TEST_FAILURE' ? error.cause : error);
  return { type, data: { ...data, details: { ...data.details!, error: { text, failureType: error.failureType } } } };
}

export default new Writable({
  objectMode: true,
  write(event: TestEvent, _encoding, done) {
    process.send!(withPrintedError(event));
    done();
  },
});
