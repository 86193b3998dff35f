import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { send } from "../lib/api.ts";
import { queryClient } from "../lib/queries.ts";

export default function SignInPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { next } = useSearch({ from: "/sign-in" });
  const { register, handleSubmit } = useForm<{ name: string; password: string }>();
  const [problem, setProblem] = useState<string | null>(null);
  const submit = handleSubmit(async (fields) => {
    try {
      await send("POST", "/session", fields);
      queryClient.clear();
      await navigate({ to: next ?? "/keys" });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  });
  return (
    <main>
      <h1>{t("signIn.title")}</h1>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          {t("signIn.name")}
          <input {...register("name")} autoComplete="username" />
        </label>
        <label>
          {t("signIn.password")}
          <input {...register("password")} type="password" autoComplete="current-password" />
        </label>
        {problem !== null && <p role="alert">{problem}</p>}
        <button type="submit">{t("signIn.submit")}</button>
      </form>
    </main>
  );
}
