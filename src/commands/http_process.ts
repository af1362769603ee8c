/** One of several processes that answer requests, started by `serve`, which accepts connections and passes them on. */
import type { Socket } from 'node:net';
import { buildApp } from '../app.ts';
import { areaServices } from '../areas/index.ts';
import { watchSwitches } from '../areas/spaces/storage_moves/index.ts';
import { connect } from '../db/index.ts';
import { closeReaders } from '../git/index.ts';
import { answerLast, closeConnections, leave } from '../http/drain.ts';
import { loadMeter } from '../http/overload.ts';
import { newRegistry } from '../metrics.ts';
import { servicesFor } from '../services/index.ts';
import { patienceOf } from './database.ts';
import { surviveEscapedErrors } from './escaped_errors.ts';
import { openLog } from './log.ts';
import { collectRarely, releaseMemory } from './memory.ts';
import type { FromProcess, Start, ToProcess } from './processes.ts';
import { readsOnly } from './site.ts';
import { sshServerOf } from './ssh_server.ts';

const say = (message: FromProcess) => process.send?.(message);

// Ctrl-C also reaches the parent process, which tells this one when to stop.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('SIGHUP', () => {});

/** Pending requests to the other processes, by number. */
const asked = new Map<number, (text: string) => void>();
let lastAsked = 0;

function gather(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  lastAsked++;
  asked.set(lastAsked, resolve);
  say({ type: 'gather', id: lastAsked });
  return promise;
}

async function run({ config, connectionString, connections }: Start): Promise<void> {
  collectRarely();
  const log = openLog(config);
  const db = connect({
    connectionString,
    max: connections,
    reads_only: readsOnly(config),
    patience_ms: patienceOf(config),
  });
  const registry = newRegistry(db);
  const app = await buildApp({ config, db, log, metrics: { registry, gather }, isDelayed: loadMeter(db) });
  await app.ready();
  surviveEscapedErrors(log);
  const { server } = app;
  // It never listens itself; this starts the timeouts of its connections.
  server.emit('listening');
  const ssh = await sshServerOf(config, db, log);
  const stopWatching = watchSwitches(servicesFor(config, db, areaServices), log);
  const open = new Set<Socket>();
  const closed = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let isStopping = false;
  const end = async () => {
    if (isStopping) return;
    isStopping = true;
    released.resolve();
    if (open.size === 0) closed.resolve();
    await Promise.all([
      closeConnections(server, { closed: closed.promise, cutOff: lost.promise }),
      ssh.close(lost.promise),
    ]);
    stopWatching();
    await closeReaders();
    process.exit(0);
  };
  process.on('message', (message: ToProcess, socket?: Socket) => {
    if (message.type === 'connection') {
      if (!socket) return; // it has just ended
      open.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        if (isStopping && open.size === 0) closed.resolve();
      });
      server.emit('connection', socket);
    } else if (message.type === 'ssh connection') {
      if (socket) ssh.take(socket);
    } else if (message.type === 'gathered') {
      asked.get(message.id)?.(message.text);
      asked.delete(message.id);
    } else if (message.type === 'measure') {
      void registry.getMetricsAsJSON().then((measured) => say({ type: 'measured', id: message.id, measured }));
    } else if (message.type === 'leave') leave(server);
    else if (message.type === 'answer last') answerLast(server, released.promise);
    else if (message.type === 'stop') void end();
    else if (message.type === 'cut off') lost.resolve();
  });
  process.on('disconnect', () => {
    lost.resolve();
    void end();
  });
  say({ type: 'ready' });
  releaseMemory();
}

process.once('message', (message: ToProcess) => {
  if (message.type === 'start') void run(message);
});
