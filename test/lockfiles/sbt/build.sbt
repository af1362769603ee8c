ThisBuild / scalaVersion := "2.13.14"
ThisBuild / organization := "com.example"
name := "orchard"
version := "1.0"
libraryDependencies += "org.typelevel" %% "cats-core" % "2.10.0"
libraryDependencies += "com.typesafe" % "config" % "1.4.3"
libraryDependencies += "org.scalatest" %% "scalatest" % "3.2.18" % Test
