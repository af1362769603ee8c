/** The interface of what people let applications do to other districts. */
export { answerAlone, answerDecided, requestOf } from './request_actions.ts';
