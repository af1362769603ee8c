/** Questions that a thread asks while it works, such as for a file that it may need: whoever gave it the work answers. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { MessageChannel, type MessagePort } from 'node:worker_threads';

interface Question<Asked> {
  id: number;
  asked: Asked;
}
type Answer<Answered> = { id: number; answered: Answered } | { id: number; failed: true };

/** One end for the thread, which is part of what is transferred to it, and the other end, which answers until it is closed. */
export interface Answering {
  port: MessagePort;
  close(): void;
}

/**
 * Answers the questions of a thread.
 * @param answer what is plain data is asked and answered; the first failure is rejected to whoever waits for `failure`
 */
export function answering<Asked, Answered>(
  answer: (asked: Asked) => Promise<Answered>,
): Answering & { failure: Promise<never> } {
  const { port1, port2 } = new MessageChannel();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => {});
  // Messages arrive in no context, and answering is work for the client of this moment.
  const inContext = AsyncLocalStorage.snapshot();
  const reply = async ({ id, asked }: Question<Asked>) => {
    try {
      port1.postMessage({ id, answered: await answer(asked) } satisfies Answer<Answered>);
    } catch (error) {
      failure.reject(error);
      port1.postMessage({ id, failed: true } satisfies Answer<Answered>);
    }
  };
  port1.on('message', (question: Question<Asked>) => inContext(reply, question));
  // The work that asks keeps the process alive, not the port.
  port1.unref();
  return { port: port2, close: () => port1.close(), failure: failure.promise };
}

/** Why an answer did not come. Whoever gave the work knows the reason. */
export class Unanswered extends Error {
  override name = 'Unanswered';
}

/** What a thread asks with. The port is closed with the work. */
export function asking<Asked, Answered>(port: MessagePort): (asked: Asked) => Promise<Answered> {
  const waiting = new Map<number, PromiseWithResolvers<Answered>>();
  let lastId = 0;
  port.on('message', (answer: Answer<Answered>) => {
    const question = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('failed' in answer) question?.reject(new Unanswered('The question was not answered.'));
    else question?.resolve(answer.answered);
  });
  port.on('close', () => {
    for (const question of waiting.values()) question.reject(new Unanswered('Nobody answers any more.'));
  });
  return (asked) => {
    const question = Promise.withResolvers<Answered>();
    waiting.set(++lastId, question);
    port.postMessage({ id: lastId, asked } satisfies Question<Asked>);
    return question.promise;
  };
}
