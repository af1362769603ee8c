import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorError } from './command.ts';
import { listenProblem } from './listening.ts';

const refused = (code: string) => Object.assign(new Error('listen'), { code });

test('the message about a port that is in use names the variable that chooses it', () => {
  const http = { host: '127.0.0.1', port: 80, variable: 'COPPICE_PORT' } as const;
  const ssh = { host: '127.0.0.1', port: 22, variable: 'COPPICE_SSH_PORT' } as const;
  const sentences = [
    [
      listenProblem(refused('EADDRINUSE'), http),
      'Another program, perhaps another Coppice, is listening on 127.0.0.1, port 80. Stop it, or set COPPICE_PORT to a different port.',
    ],
    [
      listenProblem(refused('EADDRINUSE'), ssh),
      'Another program, perhaps another Coppice, is listening on 127.0.0.1, port 22, where git over SSH would be. Stop it, or set COPPICE_SSH_PORT to a different port, or to 0 to go without it.',
    ],
    [
      listenProblem(refused('EACCES'), ssh),
      'This account is not allowed to listen on 127.0.0.1, port 22. Set COPPICE_SSH_PORT to 1024 or more.',
    ],
    [listenProblem(refused('EADDRNOTAVAIL'), ssh), 'COPPICE_HOST, 127.0.0.1, is not an address of this machine.'],
  ] as const;
  for (const [error, sentence] of sentences) {
    assert.ok(error instanceof OperatorError);
    assert.equal(error.message, sentence);
  }
  const other = refused('EMFILE');
  assert.equal(listenProblem(other, http), other);
});
