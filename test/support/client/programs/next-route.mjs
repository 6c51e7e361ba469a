/** The assistant as a route handler of Next.js. */
import { createRecorder } from 'caller-stats-client';
import { recordQuestions } from 'caller-stats-client/next';
import { after } from 'next/server';
import { answerRequest, recorderOptions, requestOptions } from './answers.mjs';

const recorder = createRecorder(recorderOptions(process.env));

export const POST = recordQuestions(answerRequest, { recorder, ...requestOptions, after });
