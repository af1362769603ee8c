/** The interface of what people let applications do to other districts. */

export { decideDevice, deviceWith } from './device_actions.ts';
export { shownCode, userCodeIn } from './device_rules.ts';
export { answerAlone, answerDecided, requestOf } from './request_actions.ts';
