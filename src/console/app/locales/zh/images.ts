import type { images as english } from "../en/images.ts";

export const images: Record<keyof typeof english, string> = {
  title: "图片",
};
